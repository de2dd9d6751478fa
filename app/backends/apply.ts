import type { RunConfig } from '../run/config.ts'
import { kernelHeads } from '../run/shape.ts'
import { profileNamed } from './index.ts'
import type { LseLayout, Semantics } from './profile.ts'

/** Fields that a back-end fixes. */
export const FIXED_BY_BACKEND: readonly string[] = [
  'engine.lseBase',
  'engine.lseType',
  'engine.lseLayout',
  'engine.paddedHeads',
  'engine.emptyRow',
  'engine.zeroWeight',
  'engine.allEmpty',
  'parallel.wireDtype',
]

/** Layouts as the engine knows them: a batch of equal query lengths is its T query tokens. */
const LAYOUTS: Readonly<Record<LseLayout, RunConfig['engine']['lseLayout']>> = {
  '[T,H]': '[T,H]',
  '[B,q,H]': '[T,H]',
  '[B*q,H]': '[T,H]',
  '[B,pad]': '[T,H]',
  '[B,H,q]': '[B,H,q]',
  '[1,H,T]': '[H,T]',
  '[H,B]': '[H,T]',
}

/** Heads that a kernel which pads has rows for; 0 where it does not pad so many. */
const paddedHeads = ({ headPadding }: Semantics, heads: number): number =>
  headPadding.find((size) => heads <= size) ?? 0

/**
 * The configuration with the semantics of its back-end in it: base, type, layout and padding of the lse, what the kernel
 * leaves in rows without keys, what the merge makes of them, and the type of partials in flight. Without a back-end, or with
 * our own, it is as it was.
 */
export const withBackend = (config: RunConfig): RunConfig => {
  const { framework, semantics } = profileNamed(config.serving.backend)
  if (framework === 'dcpscope') return config
  const { parallel, engine } = config
  const { lse, merge, emptyRow } = semantics
  return {
    ...config,
    parallel: { ...parallel, wireDtype: merge.wire[parallel.comm] ?? parallel.wireDtype },
    engine: {
      ...engine,
      lseBase: lse.base,
      lseType: lse.dtype,
      lseLayout: LAYOUTS[lse.layout],
      paddedHeads: paddedHeads(semantics, kernelHeads(config)),
      emptyRow,
      zeroWeight: merge.zeroWeight === 'multiplied' ? 'multiplied' : 'dropped',
      allEmpty: merge.allEmpty[parallel.comm] === 'NaN' ? 'nan' : 'zero',
    },
  }
}
