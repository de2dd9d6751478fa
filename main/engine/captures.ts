import { profileNamed } from '../../app/backends/index.ts'
import type { LseBase } from '../../app/backends/profile.ts'
import { encodeHeader } from '../../app/dump/safetensors.ts'
import { DUMP_FORMAT } from '../../app/dump/schema.ts'
import { faultsAt } from '../../app/faults/engine.ts'
import { MESSAGE_BYTES } from '../../app/protocol/engine.ts'
import { branchOf } from '../../app/run/branch.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { acceptedPerStep, contextLens, defaultSoftmaxScale, graphBatch } from '../../app/run/engine-config.ts'
import { kernelHeads, kernelKvHeads } from '../../app/run/shape.ts'
import { VERSION } from '../process/version.ts'
import type { NativeCapture } from './addon.ts'
import type { CreditedMessage } from './outbox.ts'

/** Data of one message; the rest of it is room for names. */
const PIECE_BYTES = MESSAGE_BYTES - 4096

/** The safetensors file of one capture as messages of at most MESSAGE_BYTES, in order. */
export function* captureMessages(
  runId: string,
  config: RunConfig,
  capture: NativeCapture,
): Generator<CreditedMessage> {
  const header = encodeHeader(capture.tensors, captureMetadata(config, capture))
  const parts = [header, ...capture.tensors.map((tensor) => new Uint8Array(tensor.data))]
  const total = parts.reduce((sum, part) => sum + part.byteLength, 0)
  let offset = 0
  for (const data of pieces(parts, PIECE_BYTES)) {
    const last = offset + data.byteLength === total
    yield { type: 'file', runId, bytes: data.byteLength, file: captureFile(capture), offset, data, last }
    offset += data.byteLength
  }
}

/** Why a capture is not whole, for the manifest. */
export const captureNote = ({ step, layer, rank }: NativeCapture, leftOut: string): string =>
  `step ${step}, layer ${layer}, ${rank < 0 ? 'reference' : `rank ${rank}`}: ${leftOut}`

const captureFile = ({ step, layer, rank }: NativeCapture): string =>
  `tensors/step=${step}/layer=${layer}/${rank < 0 ? 'reference' : `rank=${rank}`}.safetensors`

/** Header of the dump format; the reference says so in place of a rank. */
export const captureMetadata = (config: RunConfig, capture: NativeCapture): Record<string, string> => {
  const { model, parallel, cache, workload, engine, serving } = config
  const longest = Math.max(...contextLens(config))
  const metadata = {
    format: DUMP_FORMAT,
    rank: capture.rank < 0 ? 'reference' : capture.rank,
    dcp_size: parallel.dcpSize,
    step: capture.step,
    layer: capture.layer,
    interleave: parallel.interleave,
    page_size: cache.pageSize,
    num_heads: kernelHeads(config),
    ...(model.kvHeads === undefined
      ? { kv_lora_rank: model.kvLoraRank, rope_dim: model.ropeDim }
      : { num_kv_heads: kernelKvHeads(config), head_dim: model.headDim }),
    q_len: workload.qLen,
    softmax_scale: defaultSoftmaxScale(config),
    lse_base: mergeBase(config, capture),
    comm: parallel.comm,
    kv_layout: cache.kvDtype,
    max_len: longest + (workload.steps - 1) * acceptedPerStep(config) + workload.qLen,
    backend: profileNamed(serving.backend).name,
    branch: branchOf(config, capture.layer),
    engine: `dcpscope ${VERSION}`,
    ...(engine.graph ? { graph: 1 } : {}),
    ...(engine.graphBatch ? { graph: 1, graph_batch: graphBatch(contextLens(config).length) } : {}),
  }
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)]))
}

/** Base in which the merge of the captured rank took the lse. */
const mergeBase = (config: RunConfig, at: NativeCapture): LseBase => {
  const { lseBase } = config.engine
  if (faultsAt(config, 'lse-base-mismatch', at).length === 0) return lseBase
  return lseBase === 'e' ? '2' : 'e'
}

/** The bytes of `parts` in order, as buffers of `size` and a shorter last one. */
function* pieces(parts: readonly Uint8Array[], size: number): Generator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(size)
  let filled = 0
  for (const part of parts)
    for (let from = 0; from < part.byteLength; ) {
      const taken = part.subarray(from, from + size - filled)
      piece.set(taken, filled)
      filled += taken.byteLength
      from += taken.byteLength
      if (filled < size) continue
      yield piece
      piece = new Uint8Array(size)
      filled = 0
    }
  if (filled > 0) yield piece.slice(0, filled)
}
