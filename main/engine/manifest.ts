import type { RunConfig } from '../../app/run/config.ts'
import type { Device } from '../../app/run/engine-config.ts'
import { FORMAT_VERSION, type Manifest } from '../../app/trace/manifest.ts'
import { cpuName } from '../process/cpu-name.ts'
import { VERSION } from '../process/version.ts'
import type { NativeAddon, RunFacts } from './addon.ts'

export interface RunBeginning {
  readonly name: string
  readonly config: RunConfig
  readonly device: Device
  /** Wall time at which the engine's clock was zero. */
  readonly clockBase: Date
}

type Engine = Pick<NativeAddon, 'version' | 'cpu' | 'cuda'>

/** Whether ranks take turns on one device, so that how they meet is emulated. */
export const sharesDevice = ({ parallel }: RunConfig, device: Device): boolean =>
  device === 'cuda' && parallel.dcpSize > 1

const SHARED =
  'Ranks share one GPU in turn: each kernel is measured with its rank alone on the device, every lane is shifted to ' +
  'the start of its step, and a transport is a local copy with the real correction or merge kernel, so transports, ' +
  'waiting and wall_ns are emulated; device_ns is what the GPU took for all ranks.'

/** Manifest of a run that begins now. */
export const beginManifest = (engine: Engine, facts: RunFacts, run: RunBeginning): Manifest => {
  const began = run.clockBase.toISOString()
  return {
    format: 'dcpscope-run',
    formatVersion: FORMAT_VERSION,
    name: run.name,
    status: 'running',
    config: run.config,
    ...(sharesDevice(run.config, run.device) ? { emulated: SHARED } : {}),
    devices: [run.device === 'cuda' ? gpu(engine, facts) : cpu(engine)],
    versions: { dcpscope: VERSION, engine: engine.version, node: process.versions.node },
    clock: { base: began, alignment: facts.alignment, uncertaintyNs: facts.uncertaintyNs },
    createdAt: began,
    ...(facts.kernelProblem === undefined ? {} : { kernelNote: facts.kernelProblem }),
  }
}

type ManifestDevice = Manifest['devices'][number]

const cpu = (engine: Engine): ManifestDevice => {
  const { cores, simd } = engine.cpu()
  return {
    name: cpuName(),
    kind: 'cpu',
    detail: `${cores} ${cores === 1 ? 'core' : 'cores'}, ${simd}`,
  }
}

const gpu = (engine: Engine, { attention }: RunFacts): ManifestDevice => {
  const info = engine.cuda().devices[0]
  if (info === undefined) throw new Error('the engine runs on a GPU that it does not list')
  const driver = info.driver === undefined ? '' : `driver ${info.driver}, `
  return {
    name: info.name,
    kind: 'cuda',
    detail:
      `${info.multiprocessors} multiprocessors, compute capability ${info.computeCapability}, ` +
      `${(info.memoryBytes / 2 ** 30).toFixed(0)} GiB, ${driver}CUDA ${info.driverVersion} (runtime ${info.runtimeVersion}), ` +
      `attention ${attention}`,
  }
}
