/** One term of the field as the product uses it. */
export interface Term {
  readonly name: string
  /** One or two sentences that need no other page. */
  readonly text: string
  /** Other ways in which the window writes it. */
  readonly also?: readonly string[]
}

/** Terms by their id. */
export const GLOSSARY = {
  rank: {
    name: 'rank',
    text: 'One of the processes, each with a GPU of its own, that share one request: it keeps a part of the keys and values and attends to them.',
    also: ['ranks'],
  },
  dcp: {
    name: 'DCP',
    text: 'Decode context parallelism: the KV cache of each request is dealt out over ranks by tokens, and the ranks merge what they attended to.',
  },
  transport: {
    name: 'transport',
    text: 'How partials get from rank to rank: all-gather and reduce-scatter (ag_rs), all-to-all (a2a), or reading the memory of the others (p2p).',
  },
  dcpSize: {
    name: 'dcp size',
    text: 'How many ranks a request is dealt out over. It divides the tensor-parallel size; 1 is no DCP.',
    also: ['dcp', 'dcpSize', 'dcp_size'],
  },
  tp: {
    name: 'TP',
    text: 'Tensor parallelism: ranks share out heads instead of tokens. With latent attention each keeps the whole cache, so it is the baseline that DCP is compared with.',
    also: ['tp', 'tpSize', 'tp size'],
  },
  interleave: {
    name: 'interleave',
    text: 'How many tokens in a row go to one rank before the next has its turn. It divides the page size.',
  },
  page: {
    name: 'page',
    text: 'Piece of the cache of a fixed number of tokens, the unit in which memory is given to requests.',
    also: ['page size', 'pages'],
  },
  virtualPage: {
    name: 'virtual page',
    text: 'Column of the block table: page size times dcp size tokens of a request, of which each rank keeps its part in one page.',
    also: ['column', 'columns'],
  },
  blockTable: {
    name: 'block table',
    text: 'For each request the pages that hold it, in order. All ranks share one; how many columns of it count differs.',
  },
  slot: {
    name: 'slot',
    text: 'Row of the pool where the key and value of one token are written: page times page size plus the place in the page; -1 on ranks that do not own the token.',
    also: ['newest slot', 'written to', 'first slot'],
  },
  pool: {
    name: 'pool',
    text: 'All pages of a rank, used or free.',
  },
  localIndex: {
    name: 'local index',
    text: 'Place of a token among those that its rank keeps.',
  },
  localLength: {
    name: 'local length',
    text: 'How many tokens of a request a rank keeps. Over the ranks they sum to the length of the request.',
    also: ['here', 'local len'],
  },
  keys: {
    name: 'keys',
    text: 'Tokens with a key and a value that a row can attend to; on one rank, those of them that it keeps.',
    also: ['keys here', 'with keys'],
  },
  partial: {
    name: 'partial',
    text: 'What one rank computes of attention over its own keys: an output for each row and head, and its LSE.',
    also: ['partials', '|out|'],
  },
  lse: {
    name: 'LSE',
    text: 'Log-sum-exp: the logarithm of the sum of exponentials of the scores that a rank saw. It says how much a partial weighs; minus infinity where a rank holds no keys.',
    also: ['lse', 'lse merged', 'lse of the reference'],
  },
  base: {
    name: 'base',
    text: 'Whether an LSE is a natural logarithm (e) or one to the base 2. Merging with the wrong one gives wrong weights and no error.',
  },
  weight: {
    name: 'weight',
    text: 'Share of a partial in the merged output: base to the power of its LSE minus the merged LSE. The weights of a row and head sum to 1.',
  },
  merge: {
    name: 'merge',
    text: 'Joining of the partials of all ranks: each is multiplied by its weight and they are summed. Done right it equals attention over all keys at once.',
    also: ['merged'],
  },
  reference: {
    name: 'reference',
    text: 'Unsharded attention in fp64 over the same keys and values: what a right merge gives but for rounding.',
    also: ['error, reference'],
  },
  head: {
    name: 'head',
    text: 'One of the parallel attentions of a layer. A rank sees heads times dcp size over tensor-parallel size of them.',
    also: ['heads'],
  },
  qLen: {
    name: 'q_len',
    text: 'Query tokens of a request in one step: 1 in plain decoding, more where drafts are verified.',
    also: ['qLen', 'q len', 'query token'],
  },
  row: {
    name: 'row',
    text: 'One query token of one request, as kernels count them.',
  },
  step: {
    name: 'step',
    text: 'One pass of the decoder over all requests of the batch; each gets its next tokens.',
    also: ['steps'],
  },
  collective: {
    name: 'collective',
    text: 'Exchange in which all ranks take part and that ends only once the last has come. Its time is waiting for that rank, then transfer.',
  },
  transfer: {
    name: 'transfer',
    text: 'The part of a collective in which data move: from when the last rank came to its end.',
    also: ['comm'],
  },
  wait: {
    name: 'waiting',
    text: 'The part of a collective from when a rank came until the last did. It is hatched in every picture.',
    also: ['wait'],
  },
  criticalPath: {
    name: 'critical path',
    text: 'The chain of work that a step could not have ended without: from its end back, at each collective on to the rank that came last.',
  },
  context: {
    name: 'context',
    text: 'Tokens of a request that its next token attends to.',
  },
  concurrency: {
    name: 'concurrency',
    text: 'Requests that are decoded in one batch.',
  },
  front: {
    name: 'Pareto front',
    text: 'The points that no other beats in both latency and throughput: whoever wants more of one gives some of the other.',
    also: ['front'],
  },
  crossover: {
    name: 'crossover',
    text: 'Where the curve of an arrangement passes that of TP. It lies between two points and is read off a straight line between them.',
    also: ['crossovers', 'Crossovers'],
  },
  roofline: {
    name: 'roofline',
    text: 'What a device does at most: with few operations a byte the memory bandwidth sets it, with many the matrix units. How far a point lies below is time that neither explains.',
    also: ['roof', 'the roof'],
  },
  guard: {
    name: 'guard',
    text: 'Check of a serving back-end that refuses or replaces a configuration before it runs.',
    also: ['rule'],
  },
  capture: {
    name: 'capture',
    text: 'Tensors of one step and layer that a run kept, so that single values can be looked at.',
    also: ['captures'],
  },
  dump: {
    name: 'dump',
    text: 'Tensors that a serving engine wrote to files, a file for each rank, step and layer.',
  },
  emulated: {
    name: 'emulated',
    text: 'Measured for each rank alone and put together, as ranks took turns on one GPU.',
  },
  p50: {
    name: 'p50, p95',
    text: 'Half of all values, or 95 of 100, are at most this.',
    also: ['p50', 'p95', 'step p50', 'step p95'],
  },
} as const satisfies Readonly<Record<string, Term>>

export type TermId = keyof typeof GLOSSARY

const all: readonly (readonly [string, Term])[] = Object.entries(GLOSSARY)

const byName: ReadonlyMap<string, Term> = new Map(
  all.flatMap(([, term]) => [term.name, ...(term.also ?? [])].map((name) => [name, term] as const)),
)

/** The term that a label of the window is, exactly as it is written; undefined where it is none. */
export const termNamed = (label: string): Term | undefined => byName.get(label)

/** Every term, by name. */
export const TERMS: readonly Term[] = all
  .map(([, term]) => term)
  .sort((a, b) => a.name.localeCompare(b.name, 'en'))
