import type { RunConfig } from './config.ts'
import { measuredLayers } from './shape.ts'

/**
 * How a serving engine prepares an attention call: each branch has metadata of its own, which a captured graph reads. Decode
 * gets lengths with the new token, target verify those without the tokens that it verifies and adds them, and draft extend,
 * which the draft takes, those with all that the draft has to catch up on.
 */
export const BRANCHES = ['decode', 'target_verify', 'draft_extend'] as const
export type Branch = (typeof BRANCHES)[number]

export const hasDraft = ({ serving }: RunConfig): boolean => serving.draft !== undefined

/** Number of the draft's one layer where there is a draft: it comes behind those of the model. */
export const isDraftLayer = (config: RunConfig, layer: number): boolean =>
  hasDraft(config) && layer === measuredLayers(config)

/** The branch that the layers of the model take. */
export const modelBranch = ({ workload }: RunConfig): Branch =>
  workload.qLen === 1 ? 'decode' : 'target_verify'

/** The branch that a layer takes. */
export const branchOf = (config: RunConfig, layer: number): Branch =>
  isDraftLayer(config, layer) ? 'draft_extend' : modelBranch(config)
