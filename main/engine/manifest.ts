import type { RunConfig } from '../../app/run/config.ts'
import type { Device } from '../../app/run/engine-config.ts'
import type { Caveats } from '../../app/trace/caveat.ts'
import { FORMAT_VERSION, type Manifest } from '../../app/trace/manifest.ts'
import { cpuName } from '../process/cpu-name.ts'
import { VERSION } from '../process/version.ts'
import type { NativeAddon, RunFacts } from './addon.ts'
import type { Sharing } from './chunks.ts'

export interface RunBeginning {
  readonly name: string
  readonly config: RunConfig
  readonly device: Device
  readonly gpu?: number
  readonly timeSliced?: boolean
  /** Wall time at which the engine's clock was zero. */
  readonly clockBase: Date
}

type Engine = Pick<NativeAddon, 'version' | 'cpu' | 'cuda'>

/** What it does to times that ranks share a GPU. */
export const sharingOf = ({
  config: { parallel, engine },
  device,
  timeSliced = false,
}: Pick<RunBeginning, 'config' | 'device' | 'timeSliced'>): Sharing => {
  if (device === 'cpu' || parallel.dcpSize === 1) return 'none'
  if (engine.ranks === 'threads') return 'emulated'
  return timeSliced ? 'time-sliced' : 'none'
}

const EMULATED =
  'Ranks share one GPU in turn: each kernel is measured with its rank alone on the device, every lane is shifted to ' +
  'the start of its step, and a transport is a local copy with the real correction or merge kernel, so transports, ' +
  'waiting and wall_ns are emulated; device_ns is what the GPU took for all ranks.'

const TIME_SLICED =
  'There are more ranks than GPUs: the processes of ranks that share a GPU get turns on it, so every time is ' +
  'time-sliced, with the work of other ranks in it. What is computed and exchanged is not touched by that.'

const caveatsOf = (sharing: Sharing): Caveats => {
  if (sharing === 'none') return {}
  return sharing === 'emulated' ? { emulated: EMULATED } : { timeSliced: TIME_SLICED }
}

/** Manifest of a run that begins now. */
export const beginManifest = (engine: Engine, facts: RunFacts, run: RunBeginning): Manifest => {
  const began = run.clockBase.toISOString()
  return {
    format: 'dcpscope-run',
    formatVersion: FORMAT_VERSION,
    name: run.name,
    status: 'running',
    config: run.config,
    ...caveatsOf(sharingOf(run)),
    devices: [run.device === 'cuda' ? gpu(engine, facts, run.gpu ?? 0) : cpu(engine)],
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

const gpu = (engine: Engine, { attention }: RunFacts, index: number): ManifestDevice => {
  const info = engine.cuda().devices[index]
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
