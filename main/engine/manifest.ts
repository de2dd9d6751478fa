import { cpus } from 'node:os'
import type { RunConfig } from '../../app/run/config.ts'
import { FORMAT_VERSION, type Manifest } from '../../app/trace/manifest.ts'
import { VERSION } from '../process/version.ts'
import type { NativeAddon } from './addon.ts'

/** Manifest of a run that begins now. `clockBase` is the wall time at which the engine's clock was zero. */
export const beginManifest = (
  addon: Pick<NativeAddon, 'version' | 'cpu'>,
  name: string,
  config: RunConfig,
  clockBase: Date,
): Manifest => {
  const cpu = addon.cpu()
  return {
    format: 'dcpscope-run',
    formatVersion: FORMAT_VERSION,
    name,
    status: 'running',
    config,
    devices: [
      {
        name: cpus()[0]?.model.trim() || 'CPU',
        kind: 'cpu',
        detail: `${cpu.cores} ${cpu.cores === 1 ? 'core' : 'cores'}, ${cpu.simd}`,
      },
    ],
    versions: { dcpscope: VERSION, engine: addon.version, node: process.versions.node },
    clock: {
      base: clockBase.toISOString(),
      alignment: 'ranks are threads of one process and read one steady clock',
      uncertaintyNs: 0,
    },
    createdAt: clockBase.toISOString(),
  }
}
