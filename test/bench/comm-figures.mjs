/**
 * What the ranks of a run spend on exchanging partials, from the spans of its bundle. Times of a point are microseconds of one
 * layer; `comm-figures.d.mts` has the types.
 */

/** Stages of the exchange behind attention, by transport, in their order. */
export const EXCHANGE_STAGES = {
  ag_rs: ['lse_all_gather', 'lse_correct', 'out_reduce_scatter'],
  a2a: ['out_all_to_all', 'merge'],
  p2p: ['merge'],
}

/** The gather before attention, which replicated queries need not. */
const QUERIES = 'q_all_gather'

export const stagesOf = (comm) => [QUERIES, ...EXCHANGE_STAGES[comm]]

const quantile = (sorted, q) => {
  const at = q * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return below + (above - below) * (at - Math.floor(at))
}

/** Median, and the range of the middle four fifths; null of nothing. */
export const spreadOf = (values) => {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    p10: quantile(sorted, 0.1),
    p90: quantile(sorted, 0.9),
    samples: sorted.length,
  }
}

const grouped = (values, key) => {
  const groups = new Map()
  for (const value of values) {
    const name = key(value)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [value])
    else group.push(value)
  }
  return groups
}

const sum = (values) => values.reduce((total, value) => total + value, 0)

/** Until the last rank has entered a collective. */
const waitOf = ({ enter_ns, last_enter_ns }) =>
  enter_ns === null ? 0 : Math.max(0, last_enter_ns - enter_ns)

/** Bytes that come from other ranks; work between collectives only reads its own. */
const received = ({ bytes, enter_ns }) => (enter_ns === null ? 0 : bytes)

const busyOf = (span) => Math.max(0, span.dur_ns - waitOf(span))

/** One rank in the exchange of one layer: from its beginning to its end without waiting, and what it waited. */
const partOf = (spans) => {
  const begin = Math.min(...spans.map(({ start_ns }) => start_ns))
  const end = Math.max(...spans.map(({ start_ns, dur_ns }) => start_ns + dur_ns))
  const wait = sum(spans.map(waitOf))
  return {
    us: Math.max(0, end - begin - wait) / 1e3,
    waitUs: wait / 1e3,
    wholeUs: (end - begin) / 1e3,
    bytes: sum(spans.map(received)),
  }
}

/** The exchange of one layer takes as long as its slowest rank. */
const layerOf = (spans) => {
  const parts = [...grouped(spans, ({ rank }) => rank).values()].map(partOf)
  return {
    us: Math.max(...parts.map(({ us }) => us)),
    waits: parts.map(({ waitUs }) => waitUs),
    // The last rank to come waits least, and needs no other clock than its own.
    ownClockUs: Math.min(...parts.map(({ wholeUs }) => wholeUs)),
    bytes: Math.max(...parts.map(({ bytes }) => bytes)),
  }
}

/** The slowest rank of every layer, without waiting. */
const slowest = (spans) =>
  [...grouped(spans, layerKey).values()].map((own) => Math.max(...own.map(busyOf)) / 1e3)

const layerKey = ({ step, layer }) => `${step}/${layer}`

/** The figures of a point by its spans. Throws where it has no exchange. */
export const figuresOf = (point, spans) => {
  const names = EXCHANGE_STAGES[point.comm]
  const layers = [
    ...grouped(
      spans.filter(({ stage }) => names.includes(stage)),
      layerKey,
    ).values(),
  ].map(layerOf)
  if (layers.length === 0) throw new Error('the run recorded no exchange')
  const us = spreadOf(layers.map((layer) => layer.us))
  const queries = spreadOf(slowest(spans.filter(({ stage }) => stage === QUERIES)))
  const bytes = Math.max(...layers.map((layer) => layer.bytes))
  return {
    ...point,
    exchange: {
      us,
      waitUs: spreadOf(layers.flatMap(({ waits }) => waits)),
      ownClockUs: spreadOf(layers.map(({ ownClockUs }) => ownClockUs)),
      bytes,
      gbPerS: bytes / us.median / 1e3,
    },
    /** With the gather of queries, where there is one. */
    totalUs: us.median + (queries?.median ?? 0),
    stages: Object.fromEntries(
      stagesOf(point.comm).flatMap((stage) => {
        const own = spans.filter((span) => span.stage === stage)
        if (own.length === 0) return []
        const figures = {
          us: spreadOf(own.map((span) => busyOf(span) / 1e3)),
          slowestUs: spreadOf(slowest(own)),
          waitUs: spreadOf(own.map((span) => waitOf(span) / 1e3)),
          bytes: Math.max(...own.map(received)),
        }
        return [[stage, figures]]
      }),
    ),
  }
}

const nameOf = ({ comm, wireDtype }) => (wireDtype === 'fp32' ? `${comm} fp32` : comm)

const placeOf = ({ ranks, tokens, replicateQ }) => `${ranks}/${tokens}/${replicateQ}`

/** p2p against the fastest of what goes through NCCL, at each place that has both. Ratios below 1: p2p is faster. */
export const compare = (figures) =>
  [...grouped(figures, placeOf).values()].flatMap((own) => {
    const p2p = own.find(({ comm }) => comm === 'p2p')
    const others = own.filter(({ comm }) => comm !== 'p2p')
    if (p2p === undefined || others.length === 0) return []
    const best = (of) => others.reduce((a, b) => (of(b) < of(a) ? b : a))
    const exchange = best((one) => one.exchange.us.median)
    const ownClock = best((one) => one.exchange.ownClockUs.median)
    const total = best((one) => one.totalUs)
    const { ranks, tokens, replicateQ } = p2p
    return [
      {
        ranks,
        tokens,
        replicateQ,
        p2pUs: p2p.exchange.us.median,
        bestNccl: nameOf(exchange),
        bestNcclUs: exchange.exchange.us.median,
        ratio: p2p.exchange.us.median / exchange.exchange.us.median,
        ownClockRatio: p2p.exchange.ownClockUs.median / ownClock.exchange.ownClockUs.median,
        totalRatio: p2p.totalUs / total.totalUs,
      },
    ]
  })

const COLLECTIVES = {
  q_all_gather: 'all_gather',
  lse_all_gather: 'all_gather',
  out_reduce_scatter: 'reduce_scatter',
  out_all_to_all: 'all_to_all',
  merge: 'p2p',
}

/** What a sweep can predict other runs by: its `collectives`. Equal messages are one timing, the median of theirs. */
export const timingsOf = (figures) => {
  const all = figures.flatMap(({ ranks, comm, stages }) =>
    Object.entries(stages).flatMap(([stage, { slowestUs, bytes }]) =>
      // With p2p the gather of queries goes through no collective of NCCL.
      bytes === 0 || (comm === 'p2p' && stage === QUERIES)
        ? []
        : [{ collective: COLLECTIVES[stage], ranks, bytes, us: slowestUs.median }],
    ),
  )
  return [...grouped(all, ({ collective, ranks, bytes }) => `${collective}/${ranks}/${bytes}`).values()].map(
    (own) => ({ ...own[0], us: spreadOf(own.map(({ us }) => us)).median }),
  )
}

/** Times of the kernels of exchanges in one process, from what dcpscope_gpu_tests prints of ops/time. */
export const kernelsOf = (text) =>
  text.split('\n').flatMap((line) => {
    const [, tokens, name, us, stampedUs] =
      /^ok ops\/time\/tokens(\d+)\/([\w-]+) \| ([\d.]+) us, stamped ([\d.]+) us$/.exec(line.trim()) ?? []
    return name === undefined
      ? []
      : [{ name, tokens: Number(tokens), us: Number(us), stampedUs: Number(stampedUs) }]
  })

const spreadText = ({ median, p10, p90 }) => `${fixed(median)} (${fixed(p10)} to ${fixed(p90)})`

const fixed = (us) => us.toFixed(us < 100 ? 1 : 0)

const COLUMNS = [
  ['ranks', (row) => row.ranks],
  ['tokens', (row) => row.tokens],
  ['rows', (row) => row.tokens * row.heads],
  ['queries', (row) => (row.replicateQ ? 'replicated' : 'gathered')],
  ['transport', nameOf],
  ['exchange us', (row) => spreadText(row.exchange.us)],
  ['own clock us', (row) => fixed(row.exchange.ownClockUs.median)],
  ['waiting us', (row) => spreadText(row.exchange.waitUs)],
  ['with queries us', (row) => fixed(row.totalUs)],
  ['KB', (row) => (row.exchange.bytes / 1e3).toFixed(1)],
  ['GB/s', (row) => row.exchange.gbPerS.toFixed(1)],
  ['p2p / NCCL', (row, ratio) => (row.comm === 'p2p' && ratio !== undefined ? ratio.ratio.toFixed(2) : '')],
]

/** The figures as a table of Markdown, with what `compare` made of them. */
export const tableOf = (figures, comparisons) => {
  const ratios = new Map(comparisons.map((ratio) => [placeOf(ratio), ratio]))
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(COLUMNS.map(([title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...figures.map((row) => line(COLUMNS.map(([, cell]) => cell(row, ratios.get(placeOf(row)))))),
  ].join('\n')
}
