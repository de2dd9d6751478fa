import { decodeValues } from './values.ts'

/**
 * Rows of an fp8_ds_mla cache: 512 e4m3 codes, four little-endian fp32 scales, each of 128 codes, and 64 bf16 rope
 * values that are stored as they are (vLLM csrc cache_kernels.cu, concat_and_cache_ds_mla_kernel).
 */
export const DS_MLA_LATENT = 512
export const DS_MLA_ROPE = 64
/** Values of one row: a key; its first DS_MLA_LATENT are the value. */
export const DS_MLA_VALUES = DS_MLA_LATENT + DS_MLA_ROPE
/** Bytes of one row. */
export const DS_MLA_BYTES = 656

const TILE = 128
const SCALES = DS_MLA_LATENT
const ROPE = SCALES + (DS_MLA_LATENT / TILE) * 4

/** Rows of 656 bytes as values, [rows, 576]. RangeError when `bytes` are no whole rows. */
export const decodeDsMla = (bytes: Uint8Array): Float64Array<ArrayBuffer> => {
  if (bytes.byteLength % DS_MLA_BYTES !== 0)
    throw new RangeError(`bytes must be rows of ${DS_MLA_BYTES}, got ${bytes.byteLength} bytes`)
  const rows = bytes.byteLength / DS_MLA_BYTES
  const values = new Float64Array(rows * DS_MLA_VALUES)
  for (let row = 0; row < rows; row++) {
    const from = bytes.subarray(row * DS_MLA_BYTES, (row + 1) * DS_MLA_BYTES)
    const to = values.subarray(row * DS_MLA_VALUES, (row + 1) * DS_MLA_VALUES)
    to.set(decodeValues(from.subarray(0, DS_MLA_LATENT), 'F8_E4M3'))
    const scales = decodeValues(from.subarray(SCALES, ROPE), 'F32')
    for (let i = 0; i < DS_MLA_LATENT; i++) to[i] = (to[i] ?? 0) * (scales[Math.floor(i / TILE)] ?? 0)
    to.set(decodeValues(from.subarray(ROPE), 'BF16'), DS_MLA_LATENT)
  }
  return values
}
