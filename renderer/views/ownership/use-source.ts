import { useMemo } from 'react'
import { type Balance, balanceOf } from '../../../app/dcp/balance.ts'
import type { Written } from '../../../app/dcp/coverage.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import { contextLens, lengthAtStep, restarts } from '../../../app/run/engine-config.ts'
import { type CalculatorFields, useCalculator } from '../../state/calculator.ts'
import { useRunForm } from '../../state/form.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { type DumpPart, sourceOfDump, useDumpPart, usePagesOfDump } from './dump-part.ts'
import { type EngineLengths, engineLengths } from './engine-lengths.ts'
import { fieldsOfDraft, inRange, type Source, sourceOfFields, sourceOfRun } from './source.ts'
import { type StoredRequest, useStored } from './use-stored.ts'

/** The request of the open run that is shown. */
export interface RunPart {
  readonly id: string
  readonly name: string
  readonly requests: number
  readonly request: number
  readonly steps: number
  readonly step: number
  /** Keys that a query token attends to at most; null when it attends to all. */
  readonly topk: number | null
}

export interface Shown {
  readonly source: Source
  /** Both null when the calculator's fields are shown. */
  readonly run: RunPart | null
  readonly dump: DumpPart | null
  readonly fields: CalculatorFields
  /** Physical page of each block-table column; null while unknown. */
  readonly pages: Int32Array | null
  /** Lengths that the engine itself recorded for this request and step, and for the step before; null while unknown. */
  readonly recorded: EngineLengths | null
  readonly before: EngineLengths | null
  /** Where the newest token was stored, where that was captured. */
  readonly written: Written | null
  readonly balance: Balance | null
  readonly error: string | null
}

/** Most rows of statistics that are fetched to compare lengths: a batch beyond it is not compared. */
const MAX_ROWS = 65_536

const useRunPart = () => {
  const open = useSession((s) => s.openRun)
  const source = useCalculator((s) => s.source)
  const step = useSelection((s) => s.step)
  const request = useSelection((s) => s.request)
  if (open === null || open.manifest.sweep !== undefined || source !== 'run') return null
  const { config, name } = open.manifest
  const requests = contextLens(config).length
  const part: RunPart = {
    id: open.id,
    name,
    requests,
    request: inRange(request, requests, 0),
    steps: open.steps,
    step: inRange(step, open.steps, open.steps - 1),
    topk: config.workload.topk ?? null,
  }
  const ranks = config.parallel.dcpSize
  const rows = requests * config.workload.qLen * ranks
  return { config, part, ranks, rows, status: open.manifest.status }
}

/** Where the tensors of a request lie: in a dump, or in the run's capture of the step. */
const storedRequest = (
  dump: DumpPart | null,
  run: RunPart | null,
  open: RunInfo | null,
): StoredRequest | null => {
  if (dump !== null) {
    const { dump: id, step, layer, dcp } = dump.of
    return { dump: id, step, layer, request: dump.request, ranks: dcp }
  }
  const layer = open?.captures.find(({ step }) => step === run?.step)?.layer
  return run === null || open === null || layer === undefined
    ? null
    : { dump: open.id, step: run.step, layer, request: run.request, ranks: open.ranks }
}

/** How all requests of a run lie on its ranks at a step. */
const batchOf = (config: RunConfig, step: number): Balance => {
  const prompts = contextLens(config)
  const lens = prompts.map((_, request) => lengthAtStep(config, request, step))
  return balanceOf(lens, shardingOf(config), restarts(config) ? prompts : null)
}

const shardingOf = ({ parallel }: RunConfig) => ({ dcp: parallel.dcpSize, interleave: parallel.interleave })

interface StepOfRun {
  readonly run: string
  readonly step: number
}

const isOf = (answered: StepOfRun | undefined, at: StepOfRun | null): boolean =>
  at !== null && answered?.run === at.run && answered.step === at.step

/** What the view shows: the selected request and step of the open run, one of a dump, else the calculator's fields. */
export const useShown = (): Shown => {
  const draft = useRunForm((s) => s.draft)
  const edits = useCalculator((s) => s.edits)
  const run = useRunPart()
  const fields = { ...fieldsOfDraft(draft), ...edits }
  const part = run?.part ?? null
  const config = run?.config ?? null
  const at = part === null || part.steps === 0 ? null : { run: part.id, step: part.step }
  const again = run?.status ?? ''
  const table = useAnswer(
    'blockTable',
    at === null || part === null ? null : { ...at, request: part.request },
    again,
  )
  const rows = useAnswer(
    'rows',
    at === null || (run?.rows ?? 0) > MAX_ROWS ? null : { ...at, layer: 0 },
    again,
  )
  const earlier = useAnswer(
    'rows',
    at === null || at.step === 0 || (run?.rows ?? 0) > MAX_ROWS
      ? null
      : { run: at.run, step: at.step - 1, layer: 0 },
    again,
  )
  const open = useSession((s) => s.openRun)
  const dump = useDumpPart()
  const found = useStored(storedRequest(dump, at === null ? null : part, open))
  const stepShown = part?.step ?? null
  const balance = useMemo(
    () => (config === null || stepShown === null ? null : batchOf(config, stepShown)),
    [config, stepShown],
  )
  const lengths = (answer: typeof rows.answer, step: StepOfRun | null): EngineLengths | null =>
    run === null || answer === null || !isOf(answer.params, step)
      ? null
      : engineLengths(answer.data, run.part.request, run.ranks)
  const source =
    run !== null
      ? sourceOfRun(run.config, run.part.request, run.part.step)
      : dump !== null
        ? sourceOfDump(dump)
        : sourceOfFields(fields)
  const pagesOfDump = usePagesOfDump(dump, source)
  const tableFits = isOf(table.answer?.params, at) && table.answer?.params.request === part?.request
  return {
    source,
    run: part,
    dump,
    fields,
    pages: tableFits ? (table.answer?.data.pages ?? null) : pagesOfDump,
    recorded:
      dump === null ? lengths(rows.answer, at) : dump.of.counted ? (found.stored?.lengths ?? null) : null,
    before: lengths(earlier.answer, at === null ? null : { ...at, step: at.step - 1 }),
    written: found.stored?.written ?? null,
    balance,
    // A capture without these tensors says nothing; what is wrong with it is told where captures are shown.
    error: table.error ?? rows.error ?? (dump === null ? null : found.error),
  }
}
