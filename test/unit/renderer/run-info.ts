import type { RunInfo } from '../../../app/protocol/store.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'

type Changes = Partial<Omit<RunInfo, 'manifest'>> & { readonly manifest?: Partial<RunInfo['manifest']> }

/** What the store says of a complete run of the default configuration on four ranks, with some of it otherwise. */
export const runInfo = (id: string, { manifest, ...rest }: Changes = {}): RunInfo => {
  const parsed = parseRunConfig({})
  if (!parsed.ok) throw new Error('the default configuration is valid')
  return {
    id,
    manifest: {
      format: 'dcpscope-run',
      formatVersion: 1,
      name: id,
      status: 'complete',
      config: parsed.config,
      devices: [],
      versions: {},
      clock: { base: '', alignment: '', uncertaintyNs: 0 },
      createdAt: '',
      ...manifest,
    },
    steps: 24,
    ranks: 4,
    startNs: 0,
    endNs: 1000,
    spanCount: 1,
    captures: [],
    ...rest,
  }
}
