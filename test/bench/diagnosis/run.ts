import { createRequire } from 'node:module'
import type { FaultName } from '../../../app/faults/names.ts'
import type { NativeAddon, NativeAttention } from '../../../main/engine/addon.ts'
import { draw, INJECTABLE } from './draw.ts'
import { type Trial, trial } from './trial.ts'

/** Cases number `first`, `first` + `stride`, ... below `count`, each from its own seed: with faults in turn, or healthy. */
export interface Which {
  readonly kind: 'faults' | 'healthy'
  readonly first: number
  readonly stride: number
  readonly count: number
  readonly seed: number
  /** Only this fault. */
  readonly only?: FaultName
}

/** Runs cases one after the other on the engine at `addonPath`; `tell` gets each outcome as it comes. */
export const runCases = async (
  addonPath: string,
  { kind, first, stride, count, seed, only }: Which,
  tell: (trial: Trial) => void,
): Promise<void> => {
  const addon: NativeAddon & NativeAttention = createRequire(addonPath)(addonPath)
  for (let i = first; i < count; i += stride) {
    const fault = kind === 'healthy' ? undefined : (only ?? INJECTABLE[i % INJECTABLE.length])
    const { diagnosis: _, ...seen } = await trial(addon, addon, draw(seed + i, fault))
    tell(seen)
  }
}
