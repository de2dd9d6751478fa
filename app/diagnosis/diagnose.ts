import { type DumpGroup, type DumpProblem, type DumpSet, problemSentence } from '../dump/dumps.ts'
import type { FaultName } from '../faults/names.ts'
import { LSE_BASES, type LseBase } from '../lse/base.ts'
import { type Case, isReal, loadCase, type RankTables, toldTokens } from './case.ts'
import { chooseRows } from './choose-rows.ts'
import type { Claim } from './claim.ts'
import { type Exchanged, exchangedRanks, withRanks } from './exchanged.ts'
import { findingsOf, type PlacedClaim } from './findings.ts'
import type { Hypothesis } from './hypothesis.ts'
import { missing, missingTensors } from './needs.ts'
import { PartialReference, type PartialRow } from './partial-reference.ts'
import type { Reference } from './reference.ts'
import { HYPOTHESES } from './registry.ts'
import type { Diagnosis, Information, InputIssue, NotChecked } from './result.ts'
import { loadRow, type Row } from './rows.ts'
import { emptyRows, type LsePlace, mergedEmpty, OTHER_KEYS } from './sites/empty-rows.ts'
import { globalClaims, lengthClaims } from './sites/lengths.ts'
import { LowPrecisionSite } from './sites/low-precision.ts'
import { inBase, LseSite } from './sites/lse.ts'
import { MergeSite, type Partial } from './sites/merge.ts'
import { NonFiniteSite } from './sites/non-finite.ts'
import { pageClaims, pageFacts } from './sites/pages.ts'
import { PartialSite, type SeenPartial } from './sites/partials.ts'
import { slotClaims, unwrittenTokens } from './sites/slots.ts'
import { topkClaims } from './sites/topk.ts'
import { mergedWithoutKeys } from './sites/without-keys.ts'
import { writtenKeys } from './sites/written.ts'

export interface DiagnoseOptions {
  /** Attention in fp64; without it nothing is compared with what the partials should be. */
  readonly reference?: Reference
  /** Multiply-adds of the reference for one step and layer; default 2e11. */
  readonly referenceWork?: number
  /** Every query row is looked at closely, not a sample. */
  readonly allRows?: boolean
  /** Share of the work that is done, 0 to 1. */
  readonly progress?: (share: number) => void
  /** Asked between pieces of work; ends the diagnosis by throwing. */
  readonly aborted?: () => void
}

/** Query rows of one step and layer that are looked at closely. */
const SAMPLED_ROWS = 16
/** Multiply-adds of the reference for one step and layer, after which rows are only compared without it. */
const REFERENCE_WORK = 2e11
/** Faults of an lse on its way to the merge. */
const OF_LSE = ['lse-layout-transposed', 'lse-head-misaligned'] as const
/** How much more error the other base has to leave, for the merge to have taken the lse for this one. */
const CLEARLY = 4
/** Rows without keys of one rank that are looked at. */
const EMPTY_ROWS = 512

/**
 * Names the cause of a bad output from tensors alone: from their values, never from what the dump says of a back-end or a
 * scenario. Rejects only with what `aborted` throws, or what reading does.
 */
export const diagnose = async (
  { groups, problems }: DumpSet,
  options: DiagnoseOptions = {},
): Promise<Diagnosis> => {
  const claims: PlacedClaim[] = []
  const information: Information[] = []
  const unchecked = new Map<FaultName, { cases: number; needs: Set<string> }>()
  const issues = problems.map(issueOf)
  let checks = 0
  for (const [i, group] of groups.entries()) {
    const done = (share: number): void => options.progress?.((i + share) / groups.length)
    try {
      const seen = await diagnoseCase(group, options, done)
      claims.push(...seen.claims.map((claim) => ({ ...claim, step: group.step, layer: group.layer })))
      information.push(...seen.information)
      issues.push(...seen.issues)
      checks += seen.checked
      for (const { fault, needs } of seen.notChecked) {
        const known = unchecked.get(fault) ?? { cases: 0, needs: new Set<string>() }
        for (const need of needs) known.needs.add(need)
        unchecked.set(fault, { ...known, cases: known.cases + 1 })
      }
    } finally {
      await closeAll(group)
    }
  }
  options.progress?.(1)
  const findings = findingsOf(claims)
  const found = new Set(findings.map(({ fault }) => fault))
  const unexplained = information.some(({ kind }) => kind === 'unexplained')
  // What a rank that is not there did, nobody knows.
  const isWhole = groups.every(({ missing }) => missing.length === 0)
  const verdict =
    findings.length > 0 ? 'faulty' : unexplained || checks === 0 || !isWhole ? 'undetermined' : 'healthy'
  return {
    healthy: verdict === 'healthy',
    verdict,
    findings,
    // What one step and layer decides is decided.
    notChecked: [...unchecked]
      .filter(([fault, { cases }]) => cases === groups.length && !found.has(fault))
      .map(([fault, { needs }]) => ({ fault, needs: [...needs] })),
    information: [
      ...information,
      ...(checks === 0
        ? [
            {
              kind: 'nothing-checked' as const,
              message: 'no fault could be checked with the tensors that are there',
              steps: [],
              layers: [],
              ranks: [],
            },
          ]
        : []),
    ],
    inputIssues: issues,
  }
}

/** Where tables are wrong, what was written follows from that. */
const NOTHING_WRITTEN = { claims: [], unexplained: undefined }

interface CaseResult {
  readonly claims: readonly Claim[]
  readonly information: readonly Information[]
  readonly notChecked: readonly NotChecked[]
  readonly issues: readonly InputIssue[]
  /** Faults that could be checked on the ranks that are there. */
  readonly checked: number
}

const diagnoseCase = async (
  group: DumpGroup,
  options: DiagnoseOptions,
  progress: (share: number) => void,
): Promise<CaseResult> => {
  const aborted = options.aborted ?? (() => {})
  const asSaid = await loadCase(group, aborted)
  const exchanged = exchangedRanks(asSaid, HYPOTHESES)
  const c = exchanged.length === 0 ? asSaid : await loadCase(withRanks(group, exchanged), aborted)
  const hypotheses = HYPOTHESES.filter(({ applies }) => (applies ?? ((one) => one.dcp > 1))(c))
  // A kernel that was told something wrong is not at fault for what it made of that.
  const told = [globalClaims, lengthClaims, pageClaims, topkClaims].flatMap((claims) => claims(c, hypotheses))
  const misled = new Set(told.flatMap(({ ranks }) => ranks))
  const tables = [...told, ...slotClaims(c, hypotheses)]
  const written = tables.length > 0 ? NOTHING_WRITTEN : await writtenKeys(c, hypotheses, aborted)
  const nonFinite = new NonFiniteSite(c)
  const numeric = await compareRows(c, hypotheses, misled, nonFinite, options, progress)
  const most = options.allRows === true ? Number.POSITIVE_INFINITY : EMPTY_ROWS
  const excused = new Set([...misled, ...numeric.wrongKernels])
  const empty = await emptyRows(c, most, numeric.lsePlace, { excused, ...numeric }, aborted)
  const emptyMerged = await mergedEmpty(c, most, aborted)
  await nonFinite.scan(most, aborted)
  const claims = [...tables, ...written.claims, ...empty.claims, ...emptyMerged, ...numeric.claims]
  const noNumber = nonFinite.unexplained(
    ({ rank, row, tensor }) =>
      (tensor !== 'merged' && numeric.wrongKernels.includes(rank)) ||
      claims.some(({ rows }) => rows.length === 0 || rows.includes(row)),
  )
  const information: Information[] = []
  const tell = (kind: Information['kind'], message: string, ranks: readonly number[] = []): void => {
    information.push({ kind, message, steps: [c.step], layers: [c.layer], ranks: [...new Set(ranks)] })
  }
  if (empty.padding.length > 0)
    tell(
      'pad-row-garbage',
      `${empty.padding.length} rows of padding hold garbage, the first is row ${empty.padding[0]?.row} of rank ` +
        `${empty.padding[0]?.rank}; that is harmless unless they are merged into real rows`,
      empty.padding.map(({ rank }) => rank),
    )
  if (empty.odd > 0)
    tell(
      'harmless-empty-rows',
      `${empty.odd} rows without keys have an lse of +inf or NaN and an out of 0, which merges read as nothing`,
    )
  if (numeric.lowPrecision.length > 0)
    tell('lse-low-precision', 'every lse is a number of bf16', numeric.lowPrecision)
  if (numeric.rows < c.rows)
    tell('rows-sampled', `${numeric.rows} of ${c.rows} query rows were looked at closely`)
  const pages = pageFacts(c)
  const [lacking] = pages.missing
  if (lacking !== undefined)
    tell(
      'pages-missing',
      `keys of ${pages.missing.length} ${pages.missing.length === 1 ? 'cell' : 'cells'} of block_table are not dumped, the first is page ${lacking.id} of rank ${lacking.rank}, ` +
        `request ${lacking.request}; rows of these requests are not compared with the reference`,
      pages.missing.map(({ rank }) => rank),
    )
  const [none] = tables.length > 0 ? [] : pages.none
  const noPage =
    none === undefined
      ? undefined
      : `block_table has no page (-1) in ${pages.none.length} ${pages.none.length === 1 ? 'cell' : 'cells'} where ranks have keys, the first is rank ${none.rank}, ` +
        `request ${none.request}, column ${none.column}, and no known fault explains it`
  const unwritten = tables.length > 0 ? [] : unwrittenTokens(c)
  const noKeys = tables.length > 0 ? undefined : await mergedWithoutKeys(c, most, aborted)
  const noSlot =
    unwritten.length === 0
      ? undefined
      : `no rank writes the new token of row ${unwritten[0]}${unwritten.length === 1 ? '' : ` and ${unwritten.length - 1} others`}: ` +
        'slot_mapping is -1 on all of them, and no known fault explains it'
  for (const text of [
    noKeys,
    noPage,
    noSlot,
    written.unexplained,
    noNumber,
    ...numeric.unexplained,
    empty.unexplained,
  ])
    if (text !== undefined) tell('unexplained', text)
  const notChecked = hypotheses.flatMap((hypothesis) => {
    const lacks = hypothesis.needs.map((need) => missing(c, need))
    return lacks.some((lack) => lack.length === 0)
      ? []
      : [{ fault: hypothesis.fault, needs: lacks.map((lack) => lack.join('; ')) }]
  })
  return {
    claims,
    information,
    notChecked,
    // Of rows none of which has a token nothing can be wrong.
    checked: hasTokens(c)
      ? hypotheses.filter((one) => one.needs.some((need) => missingTensors(c, need).length === 0)).length
      : 0,
    issues: exchanged.map((one) => exchangedIssue(c, one)),
  }
}

interface Compared {
  readonly claims: readonly Claim[]
  readonly rows: number
  readonly lsePlace: LsePlace
  /** Ranks whose partials were not compared, or are wrong and nothing explains them. */
  readonly unsure: ReadonlySet<number>
  /** A kernel attended to keys that rows do not have. */
  readonly otherKeys: boolean
  /** Ranks of which a partial was compared with the reference. */
  readonly compared: ReadonlySet<number>
  /** Ranks whose partials a fault of the kernel explains. */
  readonly wrongKernels: readonly number[]
  /** Ranks whose lse is in bf16. */
  readonly lowPrecision: readonly number[]
  readonly unexplained: readonly string[]
}

/** Looks at query rows one by one, so that no more than one is in memory. */
const compareRows = async (
  c: Case,
  hypotheses: readonly Hypothesis[],
  misled: ReadonlySet<number>,
  nonFinite: NonFiniteSite,
  options: DiagnoseOptions,
  progress: (share: number) => void,
): Promise<Compared> => {
  const { allRows = false, aborted = () => {} } = options
  const rows = chooseRows(c, allRows ? c.rows : SAMPLED_ROWS)
  // Where the dump does not say what the merge took the lse for, both bases are tried.
  const bases = c.ranks.every(({ lseBase }) => lseBase !== undefined) ? LSE_BASES.slice(0, 1) : LSE_BASES
  const merges = bases.map((base) => ({ base, site: new MergeSite(c, hypotheses, base) }))
  const lses = bases.map((base) => new LseSite(c, hypotheses, base))
  const precision = new LowPrecisionSite(c)
  const partials = new PartialSite(c, hypotheses)
  const reference = options.reference === undefined ? undefined : new PartialReference(c, options.reference)
  const most = allRows ? Number.POSITIVE_INFINITY : (options.referenceWork ?? REFERENCE_WORK)
  let stoodIn = false
  for (const [i, number] of rows.entries()) {
    aborted()
    const row = await loadRow(c, number)
    nonFinite.add(row)
    const right: (PartialRow | undefined)[] = []
    for (const rank of c.ranks) {
      aborted()
      const isAsked = reference !== undefined && reference.spent <= most && !misled.has(rank.rank)
      const context = isAsked ? reference.context(rank, number, row.q) : undefined
      if (context === undefined) continue
      const found = await partials.add(context, seenPartial(c, row, rank))
      if (found === undefined) continue
      right[rank.rank] = found
      for (const lse of lses) lse.add(rank, number, found)
    }
    const mergingIn = (base: LseBase): (Partial | undefined)[] =>
      Array.from({ length: c.dcp }, (_, rank) => mergedPartial(c, row, rank, right[rank], base))
    if (row.out.some((out) => out === undefined) || c.ranks.some((rank) => rank.lse === undefined))
      stoodIn = true
    const all = Array.from({ length: c.dcp }, (_, rank) => right[rank])
    for (const [at, { base, site }] of merges.entries()) {
      const merging = mergingIn(base)
      if (!merging.every((partial) => partial !== undefined)) continue
      site.add(row, merging)
      if (at === 0 && all.every((partial) => partial !== undefined)) precision.add(number, merging, all)
    }
    progress((i + 1) / rows.length)
  }
  const [fitting, other] = merges
    .map(({ base, site }) => ({ base, ...site.result() }))
    .sort((a, b) => a.total - b.total)
  if (fitting === undefined) throw new RangeError('there is no base')
  // What a merge got that is not dumped may have been another lse.
  const lseStoodIn = c.ranks.some((rank) => rank.lse === undefined)
  const seenBase =
    !lseStoodIn && other !== undefined && other.total > fitting.total * CLEARLY && fitting.claims.length === 0
      ? fitting.base
      : undefined
  const lse = lses.find(({ place }) => place === 'misplaced') ?? lses[0]
  if (lse === undefined) throw new RangeError('there is no base')
  const ofPartials = partials.result()
  const wrongKernels = ofPartials.claims.flatMap(({ ranks }) => ranks)
  // Partials that are right say nothing of a merge that got others.
  const ofMerge =
    stoodIn && ofPartials.wrongRanks.length > 0 ? { claims: [], unexplained: undefined } : fitting
  return {
    claims: [
      ...lse.claims((rank) => c.byRank.get(rank)?.lseBase ?? seenBase),
      ...precision.claims(),
      ...ofPartials.claims,
      ...ofMerge.claims.map((claim) =>
        lseStoodIn && claim.isExact !== true ? { ...claim, rivals: [...claim.rivals, ...OF_LSE] } : claim,
      ),
    ],
    unsure: new Set(c.ranks.map(({ rank }) => rank).filter((rank) => !ofPartials.rightRanks.includes(rank))),
    compared: new Set(ofPartials.comparedRanks),
    otherKeys: ofPartials.claims.some(({ fault }) => OTHER_KEYS.includes(fault)),
    wrongKernels,
    lowPrecision: precision.ranks,
    rows: rows.length,
    lsePlace: lse.place,
    unexplained: [
      lse.unexplained([...wrongKernels, ...misled]),
      ofPartials.unexplained,
      ofMerge.unexplained,
    ].filter((text) => text !== undefined),
  }
}

const ofRow = (c: Case, values: Float64Array | undefined, row: number): Float64Array | undefined =>
  values?.subarray(row * c.heads, (row + 1) * c.heads)

/** What the kernel of a rank gave, before anything was made of it where that is dumped. */
const seenPartial = (c: Case, { row, out, outKernel }: Row, rank: RankTables): SeenPartial => ({
  out: outKernel[rank.rank] ?? out[rank.rank],
  lse: ofRow(c, rank.lseKernel ?? rank.lse, row),
})

/** What the merge gets of a rank; where it is not dumped, what it should be, in `base` where the dump says none. */
const mergedPartial = (
  c: Case,
  { row, out }: Row,
  rank: number,
  right: PartialRow | undefined,
  base: LseBase,
): Partial | undefined => {
  const vectors = out[rank] ?? right?.out
  const tables = c.byRank.get(rank)
  const lse = ofRow(c, tables?.lse, row) ?? (right && inBase(right.lse, tables?.lseBase ?? base))
  return vectors === undefined || lse === undefined ? undefined : { out: vectors, lse }
}

/** Some row is of a request that has tokens, or nothing says how many there are. */
const hasTokens = (c: Case): boolean =>
  c.rows === 0 ||
  Array.from({ length: c.rows }, (_, row) => row).some(
    (row) => isReal(c, row) && toldTokens(c, c.requestOf[row] ?? -1) !== 0,
  )

const exchangedIssue = ({ step, layer }: Case, { file, says, is }: Exchanged): InputIssue =>
  issueOf({
    file,
    step,
    layer,
    rule:
      `says rank ${says} and has the lengths and slots of rank ${is}, as which it is taken: the recorder was given another rank, ` +
      'or the engine counts its ranks in another order',
    refused: false,
  })

const closeAll = async ({ ranks }: DumpGroup): Promise<void> => {
  for (const { reader } of ranks.values()) await reader.close()
}

const issueOf = (problem: DumpProblem): InputIssue => {
  const { file = null, tensor = null, step = null, layer = null, rule, refused } = problem
  return { file, tensor, step, layer, rule, refused, message: problemSentence(problem) }
}
