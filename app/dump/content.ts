import { MAX_TOKENS } from '../dcp/checks.ts'
import { localLength } from '../dcp/ownership.ts'
import type { DumpInfo } from './dump.ts'
import type { TensorReader } from './reader.ts'
import { DumpError } from './safetensors.ts'

/**
 * Refuses numbers that no engine could have meant: negative lengths and pages, pages and requests out of order. What a
 * faulty engine does produce, such as wrong lengths or slots, passes: it is to be diagnosed. Rejects with DumpError.
 * @returns what does not fit but leaves the file usable
 */
export const checkContent = async (reader: TensorReader, info: DumpInfo): Promise<DumpError[]> => {
  const lengths = {
    global: await lengthsOf(reader, 'seq_lens_global'),
    local: await lengthsOf(reader, 'seq_lens_local'),
    prompts: await lengthsOf(reader, 'prompt_lens'),
  }
  await checkQueryStart(reader, info)
  await checkPageIds(reader)
  await checkLeast(reader, 'slot_mapping', -1)
  await checkLeast(reader, 'topk', -1)
  await checkScale(reader)
  return checkTable(reader, info, lengths)
}

interface Lengths {
  readonly global: Float64Array | undefined
  readonly local: Float64Array | undefined
  /** Where generated tokens are dealt out anew behind the prompt. */
  readonly prompts: Float64Array | undefined
}

const refusal = (reader: TensorReader, tensor: string, rule: string): DumpError =>
  new DumpError(reader.file, tensor, rule)

const lengthsOf = async (reader: TensorReader, name: string): Promise<Float64Array | undefined> => {
  if (!reader.has(name)) return undefined
  const lengths = await reader.values(name)
  const at = lengths.findIndex((length) => !(length >= 0 && length <= MAX_TOKENS))
  if (at >= 0)
    throw refusal(reader, name, `request ${at} has the length ${lengths[at]}, must be 0 to ${MAX_TOKENS}`)
  return lengths
}

/** Rows of a request, one after the other, up to the last row; a graph may have rows of padding behind them. */
const checkQueryStart = async (reader: TensorReader, { graph }: DumpInfo): Promise<void> => {
  if (!reader.has('query_start')) return
  const starts = await reader.values('query_start')
  if (starts[0] !== 0) throw refusal(reader, 'query_start', `must begin at 0, begins at ${starts[0]}`)
  const at = starts.findIndex((start, i) => i > 0 && start < (starts[i - 1] ?? 0))
  if (at >= 0)
    throw refusal(
      reader,
      'query_start',
      `must not decrease, request ${at} begins at ${starts[at]} after ${starts[at - 1]}`,
    )
  const { tensors } = reader.header
  const rows = ['q', 'out', 'lse', 'slot_mapping'].map((name) => tensors.get(name)).find(Boolean)
  const [total] = rows?.shape ?? []
  const end = starts.at(-1) ?? 0
  if (total !== undefined && (graph ? end > total : end !== total))
    throw refusal(reader, 'query_start', `ends at ${end}, but ${rows?.name} has ${total} rows`)
}

const checkPageIds = async (reader: TensorReader): Promise<void> => {
  if (!reader.has('page_ids')) return
  const seen = new Set<number>()
  for (const id of await reader.values('page_ids')) {
    if (id < 0) throw refusal(reader, 'page_ids', `has the negative page ${id}`)
    if (seen.has(id)) throw refusal(reader, 'page_ids', `has page ${id} twice`)
    seen.add(id)
  }
}

const checkLeast = async (reader: TensorReader, name: string, least: number): Promise<void> => {
  if (!reader.has(name)) return
  for await (const { values } of reader.blocks(name)) {
    const wrong = values.find((value) => value < least)
    if (wrong !== undefined) throw refusal(reader, name, `must be at least ${least}, has ${wrong}`)
  }
}

const checkScale = async (reader: TensorReader): Promise<void> => {
  if (!reader.has('kv_scale')) return
  const [scale = Number.NaN] = await reader.values('kv_scale')
  if (!(scale > 0 && Number.isFinite(scale)))
    throw refusal(reader, 'kv_scale', `must be a positive number, is ${scale}`)
}

/**
 * Looks at the columns that the rank needs for its keys; what lies beyond is left from earlier steps and means nothing.
 * Without `page_ids` the pool is what `kv` holds.
 */
const checkTable = async (reader: TensorReader, info: DumpInfo, lengths: Lengths): Promise<DumpError[]> => {
  const columns = reader.header.tensors.get('block_table')?.shape[1]
  if (columns === undefined) return []
  const pool = reader.has('page_ids') ? undefined : poolOf(reader)
  const beyond: DumpError[] = []
  for await (const { from, rows, values } of reader.blocks('block_table'))
    for (let row = 0; row < rows; row++) {
      const request = from + row
      const used = usedColumns(reader, info, lengths, request) ?? columns
      const pages = values.subarray(row * columns, row * columns + Math.min(columns, used))
      const negative = pages.find((page) => page < -1)
      if (negative !== undefined)
        throw refusal(reader, 'block_table', `request ${request} has the negative page ${negative}`)
      const foreign = pool === undefined ? undefined : pages.find((page) => page >= pool)
      if (foreign !== undefined && beyond.length === 0)
        beyond.push(
          refusal(
            reader,
            'block_table',
            `request ${request} has page ${foreign}, beyond the ${pool} pages of kv, and no page_ids says that kv ` +
              'holds others; such pages are not checked',
          ),
        )
    }
  return beyond
}

const poolOf = ({ header: { tensors } }: TensorReader): number | undefined =>
  (tensors.get('kv') ?? tensors.get('kv_k') ?? tensors.get('kv_v'))?.shape[0]

/** Columns that hold keys of the rank, by the global length where it is known; undefined where no length is. */
const usedColumns = (
  reader: TensorReader,
  info: DumpInfo,
  { global, local, prompts }: Lengths,
  request: number,
): number | undefined => {
  const page = pageSizeOf(reader, info)
  const total = global?.[request]
  const own =
    total === undefined || info.rank === 'reference'
      ? local?.[request]
      : localLength(total, info.rank, {
          dcp: info.dcpSize,
          interleave: info.interleave,
          prompt: prompts?.[request],
        })
  return page === undefined || own === undefined ? undefined : Math.ceil(own / page)
}

/** Tokens of a page, as the metadata or the shape of the cache says. */
export const pageSizeOf = ({ header: { tensors } }: TensorReader, info: DumpInfo): number | undefined =>
  info.pageSize ?? (tensors.get('kv') ?? tensors.get('kv_k') ?? tensors.get('kv_v'))?.shape[1]
