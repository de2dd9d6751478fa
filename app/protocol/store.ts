import { z } from 'zod'
import { COMPARED } from '../compare/numbers.ts'
import { ROW_DIFFERENCES } from '../compare/rows.ts'
import { MEASURES, VERDICTS } from '../compare/times.ts'
import { MEASURES as TENSOR_MEASURES, VECTOR_VALUES } from '../dump/survey.ts'
import { BAD_ROW_KINDS } from '../events/row-kinds.ts'
import { EVENT_LEVELS } from '../events/words.ts'
import { PAGE_CHECKS } from '../pages/checks.ts'
import { CELL_KINDS } from '../pages/page-table.ts'
import { LIMITS, TRANSPORTS } from '../sweep/cost.ts'
import type { PointRow } from '../sweep/point-rows.ts'
import { manifestSchema, RUN_STATUSES } from '../trace/manifest.ts'
import { noteSchema } from '../trace/notes.ts'
import { STAT_GROUPINGS } from '../trace/span-stats.ts'
import { PROVENANCES, SEVERITIES, STAGES } from '../trace/stages.ts'

/**
 * What the renderer and the command line ask of the store. One entry a method: `params` and `result` are
 * schemas, so both ends validate and TypeScript knows the pair. A run is named by an opaque id; only main and
 * the command line know paths.
 *
 * Times are nanoseconds on the clock of the run as float64 (exact below 2^53 ns, 104 days).
 */
const runId = z.string().min(1).max(200)
const int = z.int()
const f64 = z.instanceof(Float64Array)
const f32 = z.instanceof(Float32Array)
const i32 = z.instanceof(Int32Array)
const u8 = z.instanceof(Uint8Array)
const provenance = z.enum(PROVENANCES)

const runRef = z.strictObject({
  id: runId,
  name: z.string(),
  createdAt: z.string(),
  status: z.enum(RUN_STATUSES),
  /** Short line: model, ranks, contexts. */
  title: z.string(),
  /** Whether it is a sweep that can be gone on with. */
  unfinished: z.boolean().optional(),
  /** Of an ended run: what its summary says, and whether its check passed. */
  outcome: z
    .strictObject({
      tokensPerSecond: z.number(),
      provenance,
      maxRelErr: z.number().nullable(),
      ok: z.boolean(),
    })
    .optional(),
})
export type RunRef = z.output<typeof runRef>

const runInfo = z.strictObject({
  id: runId,
  manifest: manifestSchema,
  /** Traced steps so far. */
  steps: int,
  ranks: int,
  /** Time range of the spans so far. */
  startNs: z.number(),
  endNs: z.number(),
  spanCount: z.number(),
  captures: z.array(z.strictObject({ step: int, layer: int })),
})
export type RunInfo = z.output<typeof runInfo>

/** Live numbers, pushed while the run goes on (about ten a second) and once when it ends. */
export const progressSchema = z.strictObject({
  id: runId,
  status: z.enum(RUN_STATUSES),
  error: z.string().optional(),
  steps: int,
  totalSteps: int,
  /** Mean of the recent steps, whole model. */
  tokensPerSecond: z.number(),
  lastStepMs: z.number(),
  /** Where rate and step come from; null before the first step. */
  provenance: provenance.nullable(),
  maxRelErr: z.number().nullable(),
  checkedRows: int,
  endNs: z.number(),
  events: int,
  dropped: int,
})
export type Progress = z.output<typeof progressSchema>

/** Items of a tile, sorted by rank, then start. */
const tileItems = {
  rank: i32,
  start: f64,
  dur: f64,
  busy: f64,
  wait: f64,
  stage: u8,
  step: i32,
  layer: i32,
  count: i32,
  sources: u8,
}

/** A number as the bundle has it, NaN and infinities too. */
const anyNumber = z.custom<number>((value) => typeof value === 'number')

const pointRow: z.ZodType<PointRow> = z.strictObject({
  key: z.string(),
  source: z.string(),
  provenance,
  transport: z.enum(TRANSPORTS),
  repeat: int,
  gpu: z.string(),
  model: z.string(),
  mode: z.string(),
  world: int,
  dcp: int,
  interleave: int,
  comm: z.string(),
  wireDtype: z.string(),
  kvDtype: z.string(),
  graph: z.boolean(),
  qLen: int,
  context: int,
  concurrency: int,
  batch: int,
  layersMeasured: int,
  tokensPerSecond: anyNumber,
  stepMsP50: anyNumber,
  stepMsP95: anyNumber,
  attnMs: anyNumber,
  commMs: anyNumber,
  waitMs: anyNumber,
  limit: z.enum([...LIMITS, '']),
  capacityTokens: anyNumber,
  capacityLimited: z.boolean(),
})

/** Most groups of events, and rows of them, in one answer. */
export const MAX_EVENT_GROUPS = 1000
export const MAX_EVENT_ROWS = 10_000

/** Most marks of events in one answer. */
export const MAX_EVENT_MARKS = 20_000

/** A rank's file of a dump, or the unsharded reference of a run. */
const dumpRank = z.union([int.min(0), z.literal('reference')])
export type DumpRank = z.output<typeof dumpRank>

/** A step and layer of a dump; `dump` is the id of a dump, or of a run for what it captured. */
const dumpGroupRef = { dump: runId, step: int, layer: int }

const dumpFile = z.strictObject({
  rank: dumpRank,
  file: z.string(),
  bytes: z.number(),
  metadata: z.array(z.strictObject({ key: z.string(), value: z.string() })),
  /** Those of the format, and at most MAX_OTHER_TENSORS others; `moreTensors` were left out. */
  tensors: z.array(z.strictObject({ name: z.string(), dtype: z.string(), shape: z.array(int) })),
  moreTensors: int,
  /** Head of the attention call that the first head of `merged` is. */
  firstKeptHead: int,
})
export type DumpFile = z.output<typeof dumpFile>

const tensorCounts = {
  values: z.number(),
  nan: z.number(),
  plusInf: z.number(),
  minusInf: z.number(),
  zero: z.number(),
  least: anyNumber,
  most: anyNumber,
  mean: anyNumber,
  rms: anyNumber,
}

const tensorGrid = z.strictObject({
  rows: int,
  columns: int,
  width: int,
  rowName: z.string(),
  columnName: z.string(),
})

/** Which events, or rows of partials, are meant; null and no kinds leave nothing out. Steps from `fromStep` to `toStep`, both in. */
const eventFilter = z.strictObject({
  level: z.enum(EVENT_LEVELS),
  kinds: z.array(z.string().max(40)).max(40),
  /** -1 for what names no rank, no layer or no request. */
  rank: int.min(-1).nullable(),
  layer: int.min(-1).nullable(),
  request: int.min(-1).nullable(),
  fromStep: int.min(0).nullable(),
  toStep: int.min(0).nullable(),
})
export type EventFilter = z.output<typeof eventFilter>

export const EVENT_GROUPINGS = ['kind', 'rank', 'layer', 'request', 'step'] as const
export type EventGrouping = (typeof EVENT_GROUPINGS)[number]

const rowPlace = { step: int, layer: int, request: int, qIndex: int }

const badPartial = z.strictObject({
  ...rowPlace,
  rank: int,
  kind: z.enum(BAD_ROW_KINDS),
  odd: z.number(),
  merged: z.boolean().nullable(),
})

const badMerged = z.strictObject({
  ...rowPlace,
  kind: z.enum(['nan_in_merged', 'check_failed']),
  rank: int,
  value: anyNumber,
})

/** See Cause in app/events/cause.ts. */
const cause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('harmless'), first: badPartial }),
  z.strictObject({
    kind: z.literal('partial'),
    partials: z.array(badPartial).readonly(),
    merged: badMerged,
    before: badPartial.nullable(),
  }),
  z.strictObject({ kind: z.literal('merge'), merged: badMerged, before: badPartial.nullable() }),
  z.strictObject({
    kind: z.literal('finite'),
    merged: badMerged,
    suspects: z.array(badPartial).readonly(),
    before: badPartial.nullable(),
  }),
])

/**
 * Where a block table comes from: what a run recorded of a step, or the tensors of a step and layer of a dump, which for what
 * a run captured is the id of the run.
 */
const pageSource = z.union([
  z.strictObject({ run: runId, step: int, rank: int.min(0) }),
  z.strictObject({ ...dumpGroupRef, rank: int.min(0) }),
])
export type PageSource = z.output<typeof pageSource>

/** Marks of a block table or pool that are told at once, and cells that have one page. */
export const MAX_PAGE_MARKS = 1 << 17
export const MAX_PAGE_USERS = 64

const cellPlace = { request: int, column: int }

const timeRow = z.strictObject({
  measure: z.enum(MEASURES),
  rank: int.nullable(),
  aNs: z.number().nullable(),
  bNs: z.number().nullable(),
  difference: z.strictObject({ ns: anyNumber, lowNs: anyNumber, highNs: anyNumber }).nullable(),
  slower: int,
  faster: int,
  p: z.number().nullable(),
  pieces: int,
  pieceSteps: int,
  verdict: z.enum(VERDICTS),
})

const checkOutcome = z.strictObject({
  tolerance: z.number(),
  checkedRows: int,
  worst: anyNumber.nullable(),
  failedSteps: int,
  firstFailed: int.nullable(),
})

export const storeMethods = {
  /** Runs in the folder of runs, and those that were opened from elsewhere while they exist, newest first. */
  listRuns: { params: z.strictObject({}), result: z.array(runRef) },
  runInfo: { params: z.strictObject({ run: runId }), result: runInfo },
  /**
   * Spans of `ranks` that overlap [startNs, endNs), sorted by rank, then start. Where a rank has more than
   * `buckets` spans there, spans of one rank are merged into at most `buckets` equal parts of the range:
   * `count` > 1 spans, `stage` the one with the longest share, start and duration their hull.
   * `busy` is the covered time; `wait` the time from entering a collective to the last rank's entering it, at the
   * start of a single span and summed over merged ones. `sources` has bit n set where a span's provenance is
   * PROVENANCES[n]. All arrays have one entry an item; times in ns. Spans of OUTER_STAGES, which contain others, are the
   * items of `outer`, merged by themselves. So are recorded kernels, those of `kernels`: `name` of a single one is a place
   * in `kernelNames`, -1 for merged ones.
   */
  spanTile: {
    params: z.strictObject({
      run: runId,
      ranks: z.array(int).max(64),
      startNs: z.number(),
      endNs: z.number(),
      buckets: int.min(1).max(4096),
    }),
    result: z.strictObject({
      startNs: z.number(),
      endNs: z.number(),
      ...tileItems,
      outer: z.strictObject(tileItems),
      kernels: z.strictObject({ ...tileItems, name: i32 }),
      kernelNames: z.array(z.string()),
    }),
  },
  /**
   * The span of `rank` that starts at or last before `atNs` and covers it, with every column; null in a gap. Never one
   * of OUTER_STAGES. With `beside` the one that begins next after `atNs` (1) or last before it (-1).
   */
  spanAt: {
    params: z.strictObject({
      run: runId,
      rank: int,
      atNs: z.number(),
      beside: z.union([z.literal(1), z.literal(-1)]).optional(),
    }),
    result: z
      .strictObject({
        step: int,
        layer: int,
        stage: int,
        startNs: z.number(),
        durNs: z.number(),
        bytes: z.number(),
        flops: z.number(),
        collectiveSeq: int.nullable(),
        enterNs: z.number().nullable(),
        lastEnterNs: z.number().nullable(),
        provenance: z.string(),
      })
      .nullable(),
  },
  /** The recorded kernel of `rank` that covers `atNs` and starts last, with every column; null where there is none. */
  kernelAt: {
    params: z.strictObject({ run: runId, rank: int, atNs: z.number() }),
    result: z
      .strictObject({
        step: int,
        layer: int,
        stage: int,
        name: z.string(),
        startNs: z.number(),
        durNs: z.number(),
        /** Of copies and fills, which have none of the next four. */
        bytes: z.number().nullable(),
        grid: z.array(int).length(3).nullable(),
        block: z.array(int).length(3).nullable(),
        registers: int.nullable(),
        sharedBytes: int.nullable(),
        stream: int,
        graph: z.boolean(),
        provenance: z.string(),
      })
      .nullable(),
  },
  /**
   * Steps from `from` on, at most `max` (thinned evenly when there are more), as columns. `provenance` is the code of
   * where `wallNs` and `tokensPerSecond` come from; `deviceNs` is what the device took for all ranks, `untracedNs` the
   * same without tracing, NaN where the step did not run so; `kernelTrace` is 1 where CUPTI was on.
   */
  steps: {
    params: z.strictObject({ run: runId, from: int.min(0), max: int.min(1).max(100_000) }),
    result: z.strictObject({
      step: i32,
      startNs: f64,
      wallNs: f64,
      deviceNs: f64,
      untracedNs: f64,
      tokensPerSecond: f64,
      maxRelErr: f64,
      checkedRows: i32,
      /** -1 where there is no draft, or nothing was checked. */
      draftProposed: i32,
      draftAccepted: i32,
      graphReplayed: u8,
      kernelTrace: u8,
      provenance: u8,
    }),
  },
  /**
   * Median and 95th percentile of each stage's duration a layer, its share of the ranks' time, and where its
   * durations come from. The shares of OUTER_STAGES, whose time is that of others, are 0. Steps whose kernels were recorded
   * are left out where there are others.
   */
  stages: {
    params: z.strictObject({ run: runId }),
    result: z.array(
      z.strictObject({
        stage: z.string(),
        p50Us: z.number(),
        p95Us: z.number(),
        share: z.number(),
        waitShare: z.number(),
        sources: z.array(provenance),
      }),
    ),
  },
  /**
   * Statistics of the spans of `ranks`, or of their recorded kernels, that touch [startNs, endNs), by what `by` names: the
   * MAX_STAT_ROWS with the largest sum of `groups`. Units: SpanStat in app/trace/span-stats.ts. Spans of OUTER_STAGES have
   * rows of their own and count for no rank.
   */
  spanStats: {
    params: z.strictObject({
      run: runId,
      startNs: z.number(),
      endNs: z.number(),
      ranks: z.array(int.min(0)).max(64),
      by: z.enum(STAT_GROUPINGS),
    }),
    result: z.strictObject({
      groups: int,
      rows: z.array(
        z.strictObject({
          key: z.union([z.string(), int]),
          count: z.number(),
          sumNs: z.number(),
          waitNs: z.number(),
          causedNs: z.number().nullable(),
          minNs: z.number(),
          p50Ns: z.number(),
          p95Ns: z.number(),
          maxNs: z.number(),
          longest: z.strictObject({ rank: int, startNs: z.number() }),
          sources: z.array(provenance),
        }),
      ),
    }),
  },
  /**
   * What bounded a step: its critical path in order of time (see app/trace/critical-path.ts; `stage` -1 between spans, `kind` a
   * place in PATH_KINDS), what each rank did, and the rank that stands out as slow (app/trace/step-balance.ts). `sources` says
   * where the durations of its spans come from.
   */
  stepPath: {
    params: z.strictObject({ run: runId, step: int.min(0) }),
    result: z.strictObject({
      path: z.strictObject({ rank: i32, stage: i32, layer: i32, kind: u8, start: f64, end: f64 }),
      ranks: z.array(
        z.strictObject({
          rank: int,
          workNs: z.number(),
          transferNs: z.number(),
          overlapNs: z.number(),
          kernelOverlapNs: z.number().nullable(),
          waitNs: z.number(),
          idleNs: z.number(),
          pathNs: z.number(),
          causedNs: z.number(),
          enteredLast: int,
        }),
      ),
      slowest: z
        .strictObject({
          rank: int,
          causedNs: z.number(),
          share: z.number(),
          stage: z.strictObject({ stage: int, ownNs: z.number(), othersNs: z.number() }).nullable(),
        })
        .nullable(),
      sources: z.array(provenance),
    }),
  },
  /** The step that took longest, of those whose kernels were not recorded where there are others; null where there is none. */
  longestStep: { params: z.strictObject({ run: runId }), result: int.nullable() },
  /** The spans of a collective, by rank: who entered when, and when the last one did. */
  collective: {
    params: z.strictObject({ run: runId, step: int.min(0), number: int.min(0) }),
    result: z.array(
      z.strictObject({
        rank: int,
        stage: int,
        layer: int,
        startNs: z.number(),
        endNs: z.number(),
        enterNs: z.number(),
        lastEnterNs: z.number(),
      }),
    ),
  },
  /**
   * Events noticed in [startNs, endNs), those of one kind and rank in each of `buckets` parts as one: the MAX_EVENT_MARKS worst,
   * the worst first. `kind` and `severity` are places in EVENT_KINDS and SEVERITIES, rank -1 is none; `time`, `step` and `layer`
   * are those of the first of `count`.
   */
  eventMarks: {
    params: z.strictObject({
      run: runId,
      startNs: z.number(),
      endNs: z.number(),
      buckets: int.min(1).max(4096),
    }),
    result: z.strictObject({
      rank: i32,
      kind: u8,
      severity: u8,
      time: f64,
      step: i32,
      layer: i32,
      count: i32,
    }),
  },
  /** What people wrote about spans of the run, in order of time. */
  notes: { params: z.strictObject({ run: runId }), result: z.array(noteSchema) },
  /** Keeps a note in the bundle, or takes it away where it has no text; all that there are then. */
  writeNote: { params: z.strictObject({ run: runId, note: noteSchema }), result: z.array(noteSchema) },
  /** Physical page of each block-table column of a request at a step (the same on all ranks); -1 not allocated. */
  blockTable: {
    params: z.strictObject({ run: runId, step: int, request: int }),
    result: z.strictObject({ pages: i32 }),
  },
  /** Row statistics of one step and layer over all ranks, as columns of the `rows` table. */
  rows: {
    params: z.strictObject({ run: runId, step: int, layer: int }),
    result: z.strictObject({
      rank: i32,
      request: i32,
      qIndex: i32,
      globalLen: i32,
      localLen: i32,
      visibleKeys: i32,
      empty: u8,
      outNan: i32,
      outInf: i32,
      outAbsmax: f32,
      lseNan: i32,
      lseMin: f32,
      lseMax: f32,
    }),
  },
  events: {
    params: z.strictObject({ run: runId, limit: int.min(1).max(10_000) }),
    result: z.array(
      z.strictObject({
        step: int,
        layer: int,
        rank: int.nullable(),
        request: int.nullable(),
        timeNs: z.number(),
        kind: z.string(),
        severity: z.string(),
        message: z.string(),
        detail: z.string(),
      }),
    ),
  },
  /**
   * Spans of `stages`, the longest first; cells of block tables that ever had physical page `page`, by the step from which on;
   * events whose severity, kind or sentence has all `words`, in order of time. At most `limit` of each, and only at the given
   * step (of pages: up to it), layer, rank, request; without stages, page or words none of them. Notes are found by the words of
   * their text and stage; `notes` finds all.
   */
  find: {
    params: z.strictObject({
      run: runId,
      stages: z.array(z.enum(STAGES)).max(STAGES.length),
      page: int.min(0).nullable(),
      words: z.array(z.string().min(1).max(100)).max(8),
      step: int.min(0).nullable(),
      layer: int.min(0).nullable(),
      rank: int.min(0).nullable(),
      request: int.min(0).nullable(),
      limit: int.min(1).max(200),
    }),
    result: z.strictObject({
      spans: z.array(
        z.strictObject({
          rank: int,
          step: int,
          layer: int,
          stage: z.string(),
          startNs: z.number(),
          durNs: z.number(),
          provenance: z.string(),
        }),
      ),
      pages: z.array(z.strictObject({ request: int, column: int, step: int })),
      events: z.array(
        z.strictObject({
          step: int,
          layer: int,
          rank: int.nullable(),
          request: int.nullable(),
          timeNs: z.number(),
          kind: z.string(),
          severity: z.string(),
          message: z.string(),
        }),
      ),
      notes: z.array(noteSchema),
    }),
  },
  /**
   * Counts by what `by` names, at most MAX_EVENT_GROUPS: kinds worst first, others in order. `key` is the kind, or the number,
   * -1 for none; `groups` and `total` count all.
   */
  eventGroups: {
    params: z.strictObject({ run: runId, filter: eventFilter, by: z.enum(EVENT_GROUPINGS) }),
    result: z.strictObject({
      total: z.number(),
      groups: z.number(),
      list: z.array(
        z.strictObject({
          key: z.union([z.string(), int]),
          /** The worst in the group. */
          severity: z.enum(SEVERITIES),
          count: z.number(),
          /** Steps with one, the first and the last of them. */
          steps: z.number(),
          firstStep: int,
          lastStep: int,
        }),
      ),
    }),
  },
  /** Events, or rows of partials, from place `from` on, by step, layer, rank, request and query row. */
  eventRows: {
    params: z.strictObject({
      run: runId,
      filter: eventFilter,
      from: int.min(0),
      max: int.min(1).max(MAX_EVENT_ROWS),
    }),
    result: z.array(
      z.strictObject({
        step: int,
        layer: int,
        rank: int.nullable(),
        request: int.nullable(),
        qIndex: int.nullable(),
        /** Of events: when it was noticed, at the end of the step. */
        timeNs: z.number().nullable(),
        kind: z.string(),
        severity: z.enum(SEVERITIES),
        message: z.string(),
        /** JSON object with the numbers behind the sentence. */
        detail: z.string(),
      }),
    ),
  },
  /**
   * How many lie in each of at most `buckets` parts of the run's steps, `perBucket` steps each from step 0 on, by severity. The
   * steps of the filter are not applied.
   */
  eventDensity: {
    params: z.strictObject({ run: runId, filter: eventFilter, buckets: int.min(1).max(4096) }),
    result: z.strictObject({ steps: int, perBucket: int, info: i32, warning: i32, error: i32 }),
  },
  /**
   * Where bad values began (see app/events/cause.ts) and where else there are such: cells of bad rows of partials in the layers
   * of the step of the cause, and in parts of `perBucket` steps of the whole run. `kind` of a cell is the place of its worst kind
   * in BAD_ROW_KINDS. Layers and steps are those of bad merged rows too: `mergedLayers` those that events name.
   */
  firstCause: {
    params: z.strictObject({ run: runId, buckets: int.min(1).max(1024) }),
    result: z.strictObject({
      cause,
      layers: z.strictObject({ step: int, layer: i32, rank: i32, rows: i32, kind: u8, mergedLayers: i32 }),
      steps: z.strictObject({
        steps: int,
        perBucket: int,
        bucket: i32,
        rank: i32,
        rows: i32,
        kind: u8,
        /** Of each part: steps with NaN in merged rows, and steps that are off the reference. */
        nanMerged: i32,
        offReference: i32,
      }),
      totals: z.strictObject({
        /** Bad rows of partials, and in how many steps, layers, requests they lie, and on which ranks. */
        rows: z.number(),
        steps: z.number(),
        layers: z.number(),
        requests: z.number(),
        ranks: i32,
        nanSteps: z.number(),
        offSteps: z.number(),
      }),
    }),
  },
  /** Shape of a captured (step, layer): T rows, H heads, c ranks, and which request and query index a row is. */
  capture: {
    params: z.strictObject({ run: runId, step: int, layer: int }),
    result: z.strictObject({
      rows: int,
      heads: int,
      ranks: int,
      width: int,
      lseBase: z.enum(['e', '2']),
      request: i32,
      qIndex: i32,
      /** Local length of each (rank, row), [c * T]. */
      visibleKeys: i32,
      hasReference: z.boolean(),
      /** Relative error of the merged output against the reference, [T * H] row major; NaN without reference. */
      relErr: f32,
    }),
  },
  /** Log-sum-exp that each rank handed on for every row and head of a capture, [c * T * H], in the base of the capture. */
  captureLse: {
    params: z.strictObject({ run: runId, step: int, layer: int }),
    result: z.strictObject({ lse: f32 }),
  },
  /** Everything that the merge of one row and head saw: partials [c * width], lse [c], merged and reference [width]. */
  mergeRow: {
    params: z.strictObject({ run: runId, step: int, layer: int, row: int, head: int }),
    result: z.strictObject({
      lse: f32,
      out: f32,
      lseKernel: f32,
      outKernel: f32,
      merged: f32,
      /** Rank that holds the head after the merge. */
      mergedRank: int,
      reference: f64.nullable(),
      referenceLse: z.number().nullable(),
    }),
  },
  /**
   * Rows of a sweep's points from row `from` on, at most `max`, in the order in which they were written: rows are only ever
   * added, so a sweep that goes on is followed by asking for what came behind those that are known.
   */
  points: {
    params: z.strictObject({ run: runId, from: int.min(0), max: int.min(1).max(10_000) }),
    result: z.array(pointRow),
  },
  /**
   * Reads the headers and small tables of a dump, which may have been written meanwhile: its steps and layers, and every file
   * that cannot be used, or only in part, with its sentence (at most MAX_DUMP_PROBLEMS; `moreProblems` were left out).
   */
  dumpInfo: {
    params: z.strictObject({ dump: runId }),
    result: z.strictObject({
      groups: z.array(
        z.strictObject({
          step: int,
          layer: int,
          dcpSize: int,
          ranks: i32,
          missing: i32,
          bytes: z.number(),
          hasReference: z.boolean(),
        }),
      ),
      problems: z.array(
        z.strictObject({
          file: z.string().nullable(),
          tensor: z.string().nullable(),
          step: int.nullable(),
          layer: int.nullable(),
          rule: z.string(),
          refused: z.boolean(),
        }),
      ),
      moreProblems: int,
    }),
  },
  /** The files of one step and layer, what they can answer, and what their rows are. */
  dumpGroup: {
    params: z.strictObject(dumpGroupRef),
    result: z.strictObject({
      dcpSize: int,
      /** Ranks in order, then the reference. */
      files: z.array(dumpFile),
      missing: i32,
      /** `lacks` is empty where the question can be answered. */
      questions: z.array(z.strictObject({ name: z.string(), asks: z.string(), lacks: z.string() })),
      /** Query rows and heads of the attention call, 0 where no tensor shows them. */
      rows: int,
      heads: int,
      request: i32,
      qIndex: i32,
      /** Tokens of each request; null where the dump does not say. */
      globalLens: f64.nullable(),
      interleave: int,
      pageSize: int.nullable(),
    }),
  },
  /**
   * A measure of every cell of a tensor of one rank, coarse where there are many, from every `rowStep`-th row where it is
   * large and not `all` is asked for; see tensorMap in app/dump/survey.ts.
   */
  tensorMap: {
    params: z.strictObject({
      ...dumpGroupRef,
      rank: dumpRank,
      tensor: z.string(),
      measure: z.enum(TENSOR_MEASURES),
      all: z.boolean(),
    }),
    result: z.strictObject({
      grid: tensorGrid,
      rowStep: int,
      rowsPerCell: int,
      columnsPerCell: int,
      mapRows: int,
      mapColumns: int,
      cells: f32,
      counts: z.strictObject(tensorCounts),
    }),
  },
  /** How the values of a tensor of one rank are distributed; see tensorHistogram in app/dump/survey.ts. */
  tensorHistogram: {
    params: z.strictObject({ ...dumpGroupRef, rank: dumpRank, tensor: z.string(), all: z.boolean() }),
    result: z.strictObject({
      counts: z.strictObject(tensorCounts),
      rowStep: int,
      linear: f64,
      leastExponent: int,
      negative: f64,
      positive: f64,
    }),
  },
  /**
   * The values that belong to one cell (see vectorPlace in app/dump/survey.ts) on every rank that has the tensor, `count` of
   * them from index `from` on: [ranks * count].
   */
  tensorVector: {
    params: z.strictObject({
      ...dumpGroupRef,
      tensor: z.string(),
      /** Of each rank, since ranks keep other heads of `merged`; ranks that are not named are left out. */
      cells: z.array(z.strictObject({ rank: dumpRank, row: int.min(0), column: int.min(0) })).max(65),
      from: int.min(0),
      max: int.min(1).max(VECTOR_VALUES),
    }),
    result: z.strictObject({
      ranks: z.array(dumpRank),
      each: z.string(),
      total: int,
      count: int,
      values: f64,
    }),
  },
  /**
   * What the block table of a rank is at a step, and whether it is right; see app/pages/checks.ts. `columns` is the width that
   * all rows have, null where each has its own; `widest` the most of any. `extent` is what a map of the pool spans: its pages,
   * else one more than the largest in use.
   */
  pageSummary: {
    params: z.strictObject({ source: pageSource }),
    result: z.strictObject({
      requests: int,
      /** Requests of the batch itself; those behind them only pad it. */
      batch: int,
      page: int.nullable(),
      dcp: int,
      interleave: int,
      /** Tokens of each prompt where generated tokens are dealt out anew behind it; null where all are dealt out in one go. */
      prompts: f64.nullable(),
      columns: int.nullable(),
      widest: int,
      poolPages: z.number().nullable(),
      extent: z.number(),
      usedPages: int,
      /** Step of the first and the last page that was taken; null where that is not known. */
      taken: z.tuple([int, int]).nullable(),
      checks: z.array(
        z.strictObject({
          name: z.enum(PAGE_CHECKS),
          rule: z.string(),
          state: z.enum(['holds', 'broken', 'unknown']),
          count: int,
          detail: z.string(),
          first: z.strictObject(cellPlace).nullable(),
          note: z.string(),
        }),
      ),
    }),
  },
  /**
   * Part of a block table: rows of `requests` requests (fewer at the end), of which `perMark` columns are one mark; see
   * tableMarks in app/pages/windows.ts. At most MAX_PAGE_MARKS marks. Of each request: its lengths (NaN unknown), columns that
   * its row has and those with keys of the rank (-1 unknown), its newest token (-1 none, or unknown), the slot of that by the
   * table, and where it was written (NaN unknown).
   */
  pageCells: {
    params: z.strictObject({
      source: pageSource,
      requestFrom: int.min(0),
      requests: int.min(1).max(4096),
      columnFrom: int.min(0),
      marks: int.min(1).max(4096),
      perMark: int.min(1).max(2 ** 32),
    }),
    result: z.strictObject({
      requests: int,
      marks: int,
      kind: u8,
      page: f64,
      valid: f64,
      taken: i32,
      globalLen: f64,
      localLen: f64,
      columns: i32,
      held: i32,
      newest: f64,
      newestSlot: f64,
      writtenSlot: f64,
    }),
  },
  /** Part of the pool, at most MAX_PAGE_MARKS marks; see poolMarks in app/pages/windows.ts. */
  poolMarks: {
    params: z.strictObject({
      source: pageSource,
      from: int.min(0),
      marks: int.min(1).max(MAX_PAGE_MARKS),
      perMark: int.min(1).max(2 ** 32),
    }),
    result: z.strictObject({ request: i32, used: i32, valid: f64, kind: u8, taken: i32 }),
  },
  /** The cells whose page this is, at most MAX_PAGE_USERS; `more` were left out. */
  pageUsers: {
    params: z.strictObject({ source: pageSource, page: z.number().min(0) }),
    result: z.strictObject({
      users: z.array(z.strictObject({ ...cellPlace, kind: z.enum(CELL_KINDS) })),
      more: int,
    }),
  },
  /**
   * What two runs spent in the steps that both have (see app/compare/times.ts), where the times come from, and the same over
   * all known repeats of both, where there are some (app/compare/repeats.ts). `repeatsOf` counts the runs of each side; null
   * where both are runs of one configuration.
   */
  compareTimes: {
    params: z.strictObject({ a: runId, b: runId }),
    result: z.strictObject({
      steps: int,
      firstStep: int,
      lastStep: int,
      rows: z.array(timeRow).readonly(),
      ranks: z.array(timeRow).readonly(),
      perPart: int,
      partSteps: i32,
      series: z.array(z.strictObject({ measure: z.enum(MEASURES), a: f64, b: f64 })).readonly(),
      sources: z.array(
        z.strictObject({
          measure: z.enum(MEASURES),
          a: z.array(provenance).readonly(),
          b: z.array(provenance).readonly(),
        }),
      ),
      repeatsOf: z.strictObject({ a: int, b: int }).nullable(),
      repeats: z.array(
        z.strictObject({
          measure: z.enum(MEASURES),
          a: int,
          b: int,
          ratio: anyNumber,
          low: anyNumber,
          high: anyNumber,
        }),
      ),
    }),
  },
  /** Rows of partials that two runs recorded, one by one, and their checks; see app/compare/rows.ts. */
  compareRows: {
    params: z.strictObject({ a: runId, b: runId }),
    result: z.strictObject({
      unlike: z.string().nullable(),
      rows: z.number(),
      differing: z.strictObject({
        keys: z.number(),
        empty: z.number(),
        nan: z.number(),
        lse: z.number(),
        out: z.number(),
      }),
      tolerance: z.number(),
      first: z
        .strictObject({ ...rowPlace, rank: int, kind: z.enum(ROW_DIFFERENCES), a: anyNumber, b: anyNumber })
        .nullable(),
      checks: z.strictObject({ a: checkOutcome, b: checkOutcome }),
    }),
  },
  /** Tensors of two dumps, or of what runs captured, cell by cell; see app/compare/numbers.ts. */
  compareTensors: {
    params: z.strictObject({ a: runId, b: runId }),
    result: z.strictObject({
      groups: int,
      unmatched: int,
      sameRanks: z.boolean(),
      tensors: z
        .array(
          z.strictObject({
            tensor: z.enum(COMPARED),
            cells: int,
            diverging: int,
            tolerance: z.number(),
            worst: z.number(),
            first: z
              .strictObject({
                ...rowPlace,
                rank: int,
                row: int,
                head: int,
                error: anyNumber,
                at: int,
                a: anyNumber,
                b: anyNumber,
              })
              .nullable(),
          }),
        )
        .readonly(),
      notes: z.array(z.string()).readonly(),
    }),
  },
  /** SQL over the bundle's tables (`spans`, `rows`, ...; `rank` is a column). Read-only; at most `limit` rows. */
  query: {
    params: z.strictObject({ run: runId, sql: z.string().max(100_000), limit: int.min(1).max(1_000_000) }),
    result: z.strictObject({
      columns: z.array(z.string()),
      rows: z.array(z.array(z.unknown())),
      truncated: z.boolean(),
    }),
  },
} as const

/** Problems of a dump, and tensors of a file that are not of the format, that are told at most. */
export const MAX_DUMP_PROBLEMS = 1000
export const MAX_OTHER_TENSORS = 200

export type StoreMethod = keyof typeof storeMethods
export type StoreParams<M extends StoreMethod> = z.input<(typeof storeMethods)[M]['params']>
export type StoreResult<M extends StoreMethod> = z.output<(typeof storeMethods)[M]['result']>

export const storeRequestSchema = z.strictObject({
  id: int,
  method: z.enum(Object.keys(storeMethods) as [StoreMethod, ...StoreMethod[]]),
  params: z.unknown(),
})
export type StoreRequest = z.output<typeof storeRequestSchema>

/** Renderer -> store: nobody waits for the answer to this request any more. */
export const storeCancelSchema = z.strictObject({ cancel: int })

/** Store -> renderer: one reply a request, how far long ones are, and progress of runs without being asked. */
export const storeReplySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('result'), id: int, result: z.unknown() }),
  z.strictObject({ type: z.literal('error'), id: int, message: z.string() }),
  z.strictObject({ type: z.literal('work'), id: int, done: z.number(), total: z.number() }),
  z.strictObject({ type: z.literal('progress'), progress: progressSchema }),
])
export type StoreReply = z.output<typeof storeReplySchema>

/** Commands from main or the command line to the store, which alone know paths. */
export const storeCommandSchema = z.discriminatedUnion('type', [
  /** Folder whose `*.dcp` are listed, and bundles elsewhere that are listed too, as are those that are opened. */
  z.strictObject({
    type: z.literal('runsFolder'),
    folder: z.string(),
    elsewhere: z.array(z.string()).optional(),
  }),
  /** Makes a bundle known under an id; answered by `opened` or `refused`. */
  z.strictObject({ type: z.literal('open'), seq: int, folder: z.string() }),
  /** Makes a dump of these files and folders known under an id; nothing is read yet. */
  z.strictObject({ type: z.literal('dump'), id: runId, paths: z.array(z.string()).min(1) }),
  /** A run whose engine or store died: mark `interrupted` with this reason if it still says running. */
  z.strictObject({ type: z.literal('interrupt'), bundle: z.string(), reason: z.string() }),
  /** MiB that the database of the store takes at most; 0: most of what the machine has. */
  z.strictObject({ type: z.literal('limits'), memoryMb: int.min(0) }),
  z.strictObject({ type: z.literal('ping'), seq: int }),
])
export type StoreCommand = z.output<typeof storeCommandSchema>

export const storeEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('opened'), seq: int, run: runId }),
  z.strictObject({ type: z.literal('refused'), seq: int, message: z.string() }),
  z.strictObject({ type: z.literal('pong'), seq: int }),
])
export type StoreEvent = z.output<typeof storeEventSchema>
