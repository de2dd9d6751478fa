import { useMemo, useState } from 'react'
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
import { useMoveOn, type Wanted } from '../../state/use-move-on.ts'
import { useSettled } from '../../state/use-settled.ts'
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

interface OfRun {
  readonly config: RunConfig
  readonly part: RunPart
  readonly ranks: number
  /** Rows of statistics in a step and layer. */
  readonly rows: number
  readonly status: string
}

const partOf = (open: RunInfo, selectedStep: number | null, selectedRequest: number | null): OfRun => {
  const { config, name, status } = open.manifest
  const requests = contextLens(config).length
  const ranks = config.parallel.dcpSize
  return {
    config,
    part: {
      id: open.id,
      name,
      requests,
      request: inRange(selectedRequest, requests, 0),
      steps: open.steps,
      step: inRange(selectedStep, open.steps, open.steps - 1),
      topk: config.workload.topk ?? null,
    },
    ranks,
    rows: requests * config.workload.qLen * ranks,
    status,
  }
}

const useRunPart = (): OfRun | null => {
  const open = useSession((s) => s.openRun)
  const source = useCalculator((s) => s.source)
  const step = useSelection((s) => s.step)
  const request = useSelection((s) => s.request)
  return useMemo(
    () =>
      open === null || open.manifest.sweep !== undefined || source !== 'run'
        ? null
        : partOf(open, step, request),
    [open, source, step, request],
  )
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

const wantedBeside = (asked: OfRun | null, wanted: OfRun | null): Wanted => {
  if (asked === wanted) return 'same'
  const isSameRequest = asked?.part.id === wanted?.part.id && asked?.part.request === wanted?.part.request
  return isSameRequest ? 'otherStep' : 'other'
}

const useFields = (): CalculatorFields => {
  const draft = useRunForm((s) => s.draft)
  const edits = useCalculator((s) => s.edits)
  return useMemo(() => ({ ...fieldsOfDraft(draft), ...edits }), [draft, edits])
}

/** What the view shows: the selected request and step of the open run, one of a dump, else the calculator's fields. */
export const useShown = (): Shown => {
  const wanted = useRunPart()
  const [asked, setAsked] = useState(wanted)
  // Of another run nothing is shown that was asked before.
  const run = asked?.part.id === wanted?.part.id ? asked : wanted
  const fields = useFields()
  const open = useSession((s) => s.openRun)
  const dump = useDumpPart()
  const part = run?.part ?? null
  const again = run?.status ?? ''
  const at = part === null || part.steps === 0 ? null : { run: part.id, step: part.step }
  const comparesRows = at !== null && (run?.rows ?? 0) <= MAX_ROWS
  const table = useAnswer(
    'blockTable',
    at === null || part === null ? null : { ...at, request: part.request },
    again,
  )
  const rows = useAnswer('rows', comparesRows ? { ...at, layer: 0 } : null, again)
  const earlier = useAnswer(
    'rows',
    comparesRows && at.step > 0 ? { run: at.run, step: at.step - 1, layer: 0 } : null,
    again,
  )
  const found = useStored(storedRequest(dump, at === null ? null : part, open))
  const source = useMemo(
    () =>
      run !== null
        ? sourceOfRun(run.config, run.part.request, run.part.step)
        : dump !== null
          ? sourceOfDump(dump)
          : sourceOfFields(fields),
    [run, dump, fields],
  )
  const pagesOfDump = usePagesOfDump(dump, source)
  const error = table.error ?? rows.error ?? (dump === null ? null : found.error)
  const [tableAnswer, rowsAnswer, earlierAnswer, stored] = [
    table.answer,
    rows.answer,
    earlier.answer,
    found.stored,
  ]
  const shown = useMemo((): Shown => {
    const step = run === null ? null : { run: run.part.id, step: run.part.step }
    const lengths = (answer: typeof rowsAnswer, of: StepOfRun | null): EngineLengths | null =>
      run === null || answer === null || !isOf(answer.params, of)
        ? null
        : engineLengths(answer.data, run.part.request, run.ranks)
    const tableFits = isOf(tableAnswer?.params, step) && tableAnswer?.params.request === run?.part.request
    return {
      source,
      run: run?.part ?? null,
      dump,
      fields,
      pages: tableFits ? (tableAnswer?.data.pages ?? null) : pagesOfDump,
      recorded:
        dump === null ? lengths(rowsAnswer, step) : dump.of.counted ? (stored?.lengths ?? null) : null,
      before: lengths(earlierAnswer, step === null ? null : { ...step, step: step.step - 1 }),
      written: stored?.written ?? null,
      balance: run === null ? null : batchOf(run.config, run.part.step),
      // A capture without these tensors says nothing; what is wrong with it is told where captures are shown.
      error,
    }
  }, [source, run, dump, fields, tableAnswer, rowsAnswer, earlierAnswer, pagesOfDump, stored, error])
  const isWhole = !(table.loading || rows.loading || earlier.loading)
  useMoveOn(isWhole, wantedBeside(asked, wanted), () => setAsked(wanted))
  return useSettled(shown, isWhole, part === null ? '' : `${part.id} ${part.request}`)
}
