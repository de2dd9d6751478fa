/**
 * Decode attention on a GPU against the best known kernels and against the limit of the hardware.
 * A shape is `{ kv, heads, qLen, requests, context }`; ceilings are `{ readBandwidth, matrixRate }` in bytes/s and
 * FLOP/s.
 */

const KEY_WIDTH = 576
const VALUE_WIDTH = 512
/** Bytes of one token in a cache. */
export const TOKEN_BYTES = { bf16: 2 * KEY_WIDTH, fp8: KEY_WIDTH, fp8_ds_mla: 656 }
/** Share of the best known speed that every shape has to reach. */
const WANTED = { bf16: 0.7, fp8_ds_mla: 1 }

export const nameOf = ({ kv, heads, qLen, requests, context }) =>
  `${kv}-h${heads}-q${qLen}-r${requests}-c${context}`

/** Products of scores and of values, two operations each. */
export const flopsOf = ({ heads, qLen, requests, context }) =>
  2 * heads * qLen * (KEY_WIDTH + VALUE_WIDTH) * requests * context

/** Keys once, queries and outputs in bf16. */
export const bytesOf = ({ kv, heads, qLen, requests, context }) =>
  requests * (context * TOKEN_BYTES[kv] + 2 * qLen * heads * (KEY_WIDTH + VALUE_WIDTH))

/** Which ceiling bounds a shape, and the seconds that it allows at least. */
const boundOf = (shape, { readBandwidth, matrixRate }) => {
  const memory = bytesOf(shape) / readBandwidth
  const matrix = flopsOf(shape) / matrixRate
  return memory >= matrix ? { bound: 'memory', seconds: memory } : { bound: 'matrix', seconds: matrix }
}

/**
 * Joins measured shapes (with `us`) with the best known. The best times were taken on another card: those of shapes
 * bound by memory there are scaled by the read bandwidths, the others by the matrix rates. Ratios above 1 mean that
 * ours is faster; `ok` is absent for formats of which no best is known.
 */
export const compare = (measured, ceilings, best) => {
  const known = new Map(best.shapes.map((shape) => [nameOf(shape), shape]))
  return measured.map((shape) => {
    const { bound, seconds } = boundOf(shape, ceilings)
    const limitUs = seconds * 1e6
    const row = { name: nameOf(shape), ...shape, bound, limitUs, limitRatio: limitUs / shape.us }
    row.gbPerS = bytesOf(shape) / shape.us / 1e3
    row.tflopPerS = flopsOf(shape) / shape.us / 1e6
    const other = known.get(row.name)
    if (other === undefined) return row
    const there = boundOf(shape, best.ceilings).bound
    const bestUs =
      there === 'memory'
        ? (other.us * best.ceilings.readBandwidth) / ceilings.readBandwidth
        : (other.us * best.ceilings.matrixRate) / ceilings.matrixRate
    const bestRatio = bestUs / shape.us
    return { ...row, bestUs, bestBy: other.faster, bestRatio, ok: bestRatio >= WANTED[shape.kv] }
  })
}

/** Counts, worst and geometric mean of the ratios, by cache format. */
export const summarise = (rows) =>
  Object.fromEntries(
    [...new Set(rows.map((row) => row.kv))].map((kv) => {
      const all = rows.filter((row) => row.kv === kv && row.bestRatio !== undefined)
      if (all.length === 0) return [kv, { shapes: rows.filter((row) => row.kv === kv).length }]
      const worst = all.reduce((a, b) => (a.bestRatio <= b.bestRatio ? a : b))
      return [
        kv,
        {
          shapes: all.length,
          wanted: WANTED[kv],
          reached: all.filter((row) => row.ok).length,
          faster: all.filter((row) => row.bestRatio >= 1).length,
          worst: { name: worst.name, ratio: worst.bestRatio },
          mean: Math.exp(all.reduce((sum, row) => sum + Math.log(row.bestRatio), 0) / all.length),
        },
      ]
    }),
  )

const COLUMNS = [
  ['kv', (row) => row.kv],
  ['heads', (row) => row.heads],
  ['q_len', (row) => row.qLen],
  ['requests', (row) => row.requests],
  ['context', (row) => row.context],
  ['ours us', (row) => row.us.toFixed(1)],
  ['best us', (row) => row.bestUs?.toFixed(1) ?? '-'],
  ['limit us', (row) => row.limitUs.toFixed(1)],
  ['best/ours', (row) => row.bestRatio?.toFixed(2) ?? '-'],
  ['limit/ours', (row) => row.limitRatio.toFixed(2)],
  ['bound', (row) => row.bound],
  ['GB/s', (row) => row.gbPerS.toFixed(0)],
  ['TFLOP/s', (row) => row.tflopPerS.toFixed(1)],
  ['', (row) => (row.ok === false ? 'below' : '')],
]

/** The rows as a table of Markdown. */
export const tableOf = (rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(COLUMNS.map(([title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...rows.map((row) => line(COLUMNS.map(([, cell]) => cell(row)))),
  ].join('\n')
}
