import { createRequire } from 'node:module'
import type { NativeAddon, NativeAttention } from '../../../main/engine/addon.ts'
import { draw, INJECTABLE } from './draw.ts'
import { type Trial, trial } from './trial.ts'

/**
 * Cases number `first`, `first` + `stride`, ... below `count`, each from its own seed: with faults in turn, or healthy.
 * `tell` gets each outcome as it comes.
 */
export const runCases = async (
  addonPath: string,
  of: { kind: 'faults' | 'healthy'; first: number; stride: number; count: number; seed: number },
  tell: (trial: Trial) => void,
): Promise<void> => {
  const addon: NativeAddon & NativeAttention = createRequire(addonPath)(addonPath)
  for (let i = of.first; i < of.count; i += of.stride) {
    const fault = of.kind === 'healthy' ? undefined : INJECTABLE[i % INJECTABLE.length]
    const { diagnosis: _, ...seen } = await trial(addon, addon, draw(of.seed + i, fault))
    tell(seen)
  }
}

export { draw, trial }
