import { hasDraft, modelBranch } from '../run/branch.ts'
import type { RunConfig } from '../run/config.ts'
import type { ConfigIssue } from '../run/parse.ts'
import { measuredLayers } from '../run/shape.ts'
import type { FaultEntry } from './fault.ts'
import { faultNamed } from './index.ts'

/** Rules that the faults of a configuration break: where they act, their parameters, and what they need of the rest. */
export const faultIssues = (config: RunConfig): ConfigIssue[] =>
  config.faults.flatMap((entry, i) => {
    const path = `faults[${i}]`
    return [
      ...aimIssues(config, entry, path),
      ...(faultNamed(entry.fault).injection?.issues(config, entry, path) ?? []),
    ]
  })

/** A fault acts on ranks, layers and steps of the run, and on layers or steps only where its point is passed for each. */
const aimIssues = (config: RunConfig, entry: FaultEntry, path: string): ConfigIssue[] => {
  const { parallel, workload } = config
  const scope = faultNamed(entry.fault).injection?.scope
  const layers = measuredLayers(config)
  return [
    ...beyond(entry.ranks === 'all' ? [] : entry.ranks, parallel.dcpSize, `${path}.ranks`, 'dcpSize'),
    ...beyond(entry.layers ?? [], layers, `${path}.layers`, 'the measured layers'),
    ...beyond(entry.steps ?? [], workload.steps, `${path}.steps`, 'steps'),
    ...(entry.layers === undefined || scope === undefined || scope === 'layer'
      ? []
      : [{ path: `${path}.layers`, message: `must be left out: ${entry.fault} acts on all layers at once` }]),
    ...branchIssues(config, entry, path),
    ...(entry.steps === undefined || scope !== 'run'
      ? []
      : [{ path: `${path}.steps`, message: `must be left out: ${entry.fault} acts in the whole run` }]),
  ]
}

/** A run takes one branch for its model, and draft extend where there is a draft. */
const branchIssues = (config: RunConfig, { branch, layers }: FaultEntry, path: string): ConfigIssue[] => {
  const own = modelBranch(config)
  if (branch === undefined || branch === own) return []
  if (branch !== 'draft_extend')
    return [
      {
        path: `${path}.branch`,
        message: `must be ${own} where qLen is ${config.workload.qLen}, got ${branch}`,
      },
    ]
  return [
    ...(hasDraft(config)
      ? []
      : [{ path: `${path}.branch`, message: 'draft_extend needs a draft; name one in serving.draft' }]),
    ...(layers === undefined
      ? []
      : [{ path: `${path}.layers`, message: 'must be left out: the draft has one layer' }]),
  ]
}

const beyond = (values: readonly number[], end: number, path: string, what: string): ConfigIssue[] =>
  values.flatMap((value, i) =>
    value < end ? [] : [{ path: `${path}[${i}]`, message: `must be below ${what} (${end}), got ${value}` }],
  )
