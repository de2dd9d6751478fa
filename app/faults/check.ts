import type { RunConfig } from '../run/config.ts'
import type { ConfigIssue } from '../run/parse.ts'
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
  const { model, parallel, workload } = config
  const scope = faultNamed(entry.fault).injection?.scope
  const layers = model.measuredLayers ?? model.layers
  return [
    ...beyond(entry.ranks === 'all' ? [] : entry.ranks, parallel.dcpSize, `${path}.ranks`, 'dcpSize'),
    ...beyond(entry.layers ?? [], layers, `${path}.layers`, 'the measured layers'),
    ...beyond(entry.steps ?? [], workload.steps, `${path}.steps`, 'steps'),
    ...(entry.layers === undefined || scope === undefined || scope === 'layer'
      ? []
      : [{ path: `${path}.layers`, message: `must be left out: ${entry.fault} acts on all layers at once` }]),
    ...(entry.steps === undefined || scope !== 'run'
      ? []
      : [{ path: `${path}.steps`, message: `must be left out: ${entry.fault} acts in the whole run` }]),
  ]
}

const beyond = (values: readonly number[], end: number, path: string, what: string): ConfigIssue[] =>
  values.flatMap((value, i) =>
    value < end ? [] : [{ path: `${path}[${i}]`, message: `must be below ${what} (${end}), got ${value}` }],
  )
