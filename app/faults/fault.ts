import { z } from 'zod'
import type { RunConfig } from '../run/config.ts'
import { contextLens, graphBatch } from '../run/engine-config.ts'
import type { ConfigIssue } from '../run/parse.ts'
import { issuesOf, ruleText } from '../run/parse.ts'
import type { FaultName } from './names.ts'

/** Where in the engine a fault acts: where the real bug sat, never on the finished result. */
export type FaultPoint =
  | 'metadata.lengths'
  | 'metadata.pageTable'
  | 'metadata.slots'
  | 'append.slot'
  | 'attn.bound'
  | 'attn.rowBytes'
  | 'attn.headMap'
  | 'attn.splitCounters'
  | 'attn.lseType'
  | 'topk.localize'
  | 'neutralize'
  | 'lse.layout'
  | 'lse.trim'
  | 'merge.base'
  | 'merge.skip'
  | 'merge.weights'
  | 'merge.headOrder'
  | 'graph.refresh'

/** What the engine is told of a fault beside where it acts: which variant, and a number whose meaning the variant says. */
export interface EngineParams {
  readonly variant: number
  readonly amount: number
}

/** What a fault needs of a configuration, besides that its parameters are in range. */
export interface Need<P> {
  /** Field that is judged: of the configuration, or of the fault when it begins with a dot (`.params.by`). */
  readonly path: string
  readonly holds: (config: RunConfig, params: P) => boolean
  /** The rule, as in `must be above 1`. */
  readonly rule: string
}

/**
 * How often the point of a fault is passed. `layer`: in each layer of each step. `step`: once a step for all layers, so a
 * fault there names none. `run`: also when the context is filled, so it names neither layers nor steps.
 */
export type Scope = 'layer' | 'step' | 'run'

export type FaultEntry = RunConfig['faults'][number]

/** How the engine makes a fault happen. */
export interface Injection {
  readonly point: FaultPoint
  readonly scope: Scope
  readonly params: z.ZodType
  /** Rules that entry `path` of the configuration's faults breaks. */
  readonly issues: (config: RunConfig, entry: FaultEntry, path: string) => ConfigIssue[]
  /** Of an entry without issues. */
  readonly engine: (config: RunConfig, entry: FaultEntry) => EngineParams
  /** Why a GPU cannot have it, as a clause; undefined where it can. */
  readonly cpuOnly: (config: RunConfig) => string | undefined
}

/** A known failure. */
export interface Fault {
  readonly name: FaultName
  readonly title: string
  /** What goes wrong, in one sentence. */
  readonly summary: string
  /** Absent where the engine cannot make it happen. */
  readonly injection?: Injection
}

interface InjectionSpec<S extends z.ZodType> {
  readonly point: FaultPoint
  readonly scope?: Scope
  readonly params: S
  readonly needs?: readonly Need<z.output<S>>[]
  readonly engine: (params: z.output<S>, config: RunConfig) => EngineParams
  readonly cpuOnly?: (config: RunConfig) => string | undefined
}

/** An injection whose parameters are those of `params`; `{}` stands for those that are not given. */
export const injection = <S extends z.ZodType>(spec: InjectionSpec<S>): Injection => {
  const { point, scope = 'layer', params, needs = [], engine, cpuOnly = () => undefined } = spec
  const issues: Injection['issues'] = (config, entry, path) => {
    const parsed = params.safeParse(entry.params ?? {}, { error: ruleText })
    if (!parsed.success)
      return issuesOf(parsed.error).map((issue) => ({
        path: `${path}.params${issue.path === '' ? '' : `.${issue.path}`}`,
        message: issue.message,
      }))
    return needs
      .filter(({ holds }) => !holds(config, parsed.data))
      .map((need) => ({
        path: need.path.startsWith('.') ? `${path}${need.path}` : need.path,
        message: `${need.rule} for the fault ${entry.fault}`,
      }))
  }
  return {
    point,
    scope,
    params,
    issues,
    engine: (config, entry) => engine(params.parse(entry.params ?? {}), config),
    cpuOnly,
  }
}

export const NO_PARAMS = z.strictObject({})
export const PLAIN: EngineParams = { variant: 0, amount: 0 }

/** What the engine is told of a variant, by its place among those of a parameter. */
export const variant = <V extends string>(names: readonly V[], name: V): EngineParams => ({
  variant: names.indexOf(name),
  amount: 0,
})

/** Needs that several faults have. */
export const SEVERAL_RANKS: Need<unknown> = {
  path: 'parallel.dcpSize',
  holds: ({ parallel }) => parallel.dcpSize > 1,
  rule: 'must be above 1',
}
export const ONE_TOKEN: Need<unknown> = {
  path: 'workload.qLen',
  holds: ({ workload }) => workload.qLen === 1,
  rule: 'must be 1',
}
export const SEVERAL_TOKENS: Need<unknown> = {
  path: 'workload.qLen',
  holds: ({ workload }) => workload.qLen > 1,
  rule: 'must be above 1',
}
export const GRAPH_BATCH: Need<unknown> = {
  path: 'engine.graphBatch',
  holds: ({ engine }) => engine.graphBatch,
  rule: 'must be true',
}
export const PADDING: Need<unknown> = {
  path: 'workload.requests',
  holds: (config) => graphBatch(contextLens(config).length) > contextLens(config).length,
  rule: 'must be so many that the batch of a graph (1, 2, 4, 8, 16, 24, ...) has room for more',
}
export const DENSE: Need<unknown> = {
  path: 'workload.topk',
  holds: ({ workload }) => workload.topk === undefined,
  rule: 'must be left out',
}
export const SPARSE: Need<unknown> = {
  path: 'workload.topk',
  holds: ({ workload }) => workload.topk !== undefined,
  rule: 'must be given',
}
export const MLA: Need<unknown> = {
  path: 'model.kvHeads',
  holds: ({ model }) => model.kvHeads === undefined,
  rule: 'must be left out',
}
