import { branchOf, modelBranch } from '../run/branch.ts'
import type { RunConfig } from '../run/config.ts'
import type { FaultEntry } from './fault.ts'
import { faultNamed } from './index.ts'
import type { FaultName } from './names.ts'

/** A fault as the native engine takes it, flat. */
export interface EngineFault {
  readonly fault: FaultName
  readonly ranks: readonly number[]
  /** Computed layers and traced steps; empty: all. */
  readonly layers: readonly number[]
  readonly steps: readonly number[]
  /** It acts on the draft, and not on the model. */
  readonly draft: boolean
  /** What they mean is said where the fault is described. */
  readonly variant: number
  readonly amount: number
}

/** The faults of a configuration without issues, with ranks by their numbers. */
export const engineFaults = (config: RunConfig): EngineFault[] =>
  config.faults.map((entry) => ({
    fault: entry.fault,
    ranks: ranksOf(config, entry),
    layers: entry.layers ?? [],
    steps: entry.steps ?? [],
    draft: entry.branch === 'draft_extend',
    ...engineParams(config, entry),
  }))

/** Entries of a fault that act on a rank in a layer of a step, in the order of the configuration. */
export const faultsAt = (
  config: RunConfig,
  name: FaultName,
  at: { readonly rank: number; readonly layer: number; readonly step: number },
): readonly FaultEntry[] =>
  config.faults.filter(
    ({ fault, ranks, layers, steps, branch }) =>
      fault === name &&
      (branch ?? modelBranch(config)) === branchOf(config, at.layer) &&
      (ranks === 'all' || ranks.includes(at.rank)) &&
      (layers?.includes(at.layer) ?? true) &&
      (steps?.includes(at.step) ?? true),
  )

const ranksOf = (config: RunConfig, { ranks }: FaultEntry): readonly number[] =>
  ranks === 'all' ? Array.from({ length: config.parallel.dcpSize }, (_, rank) => rank) : ranks

const engineParams = (config: RunConfig, entry: FaultEntry) => {
  const made = faultNamed(entry.fault).injection
  if (made === undefined) throw new RangeError(`the engine cannot make ${entry.fault} happen`)
  return made.engine(config, entry)
}
