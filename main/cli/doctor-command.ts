import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type GpuLinks, gpuLinks, linksText, missingLinks } from '../../app/run/gpu-links.ts'
import type { CudaInfo } from '../../app/run/machine.ts'
import { buildCommand, isServerPack } from '../process/build-command.ts'
import { describeRuntime, type RuntimeDescription } from './electron-runtime.ts'
import { startEngine } from './engine-process.ts'
import { messageOf } from './failure.ts'
import { findGpus, type Gpu, gpusOf } from './gpus.ts'

export interface EngineReport {
  readonly available: boolean
  /** What it is when available, why not otherwise. */
  readonly reason: string
}

export interface DoctorReport {
  readonly engines: { readonly cpu: EngineReport; readonly cuda: EngineReport }
  readonly gpus: readonly Gpu[]
  /** Absent where the engine can use no GPU. */
  readonly gpuLinks?: GpuLinks
  readonly electron: RuntimeDescription
  readonly nodeVersion: string
  /** What would have to be there for everything to work, one sentence each. */
  readonly missing: readonly string[]
}

/** Looks at this machine. Nothing is changed or installed. */
export const examine = async (distDir: string): Promise<DoctorReport> => {
  const [{ cpu, cuda }, listed] = await Promise.all([askEngine(distDir), findGpus()])
  const electron = isServerPack()
    ? { version: null, source: 'this is the pack for servers, which has no window' }
    : describeRuntime(distDir)
  const gpus = listed.length > 0 || cuda === undefined ? listed : gpusOf(cuda)
  const engines = { cpu, cuda: cudaEngine(cuda) }
  const links = gpuLinks(cuda)
  return {
    engines,
    gpus,
    ...(links === undefined ? {} : { gpuLinks: links }),
    electron,
    nodeVersion: process.versions.node,
    missing: [
      ...(cpu.available ? [] : [`CPU engine: ${cpu.reason}`]),
      ...missingForCuda(distDir, engines.cuda, gpus),
      ...(links === undefined ? [] : missingLinks(links)),
      ...(isServerPack() ? [] : missingForWindow(electron)),
    ],
  }
}

const cudaEngine = (cuda: CudaInfo | undefined): EngineReport => {
  if (cuda === undefined) return { available: false, reason: 'the engine could not be asked' }
  const [gpu] = cuda.devices
  if (!cuda.available || gpu === undefined)
    return { available: false, reason: cuda.reason ?? 'the engine found no GPU' }
  const free = `${(gpu.freeBytes / 2 ** 30).toFixed(1)} of ${(gpu.memoryBytes / 2 ** 30).toFixed(1)} GiB free`
  return {
    available: true,
    reason: `${gpu.name}, ${free}, CUDA ${gpu.runtimeVersion} on a driver for ${gpu.driverVersion}`,
  }
}

const missingForCuda = (distDir: string, cuda: EngineReport, gpus: readonly Gpu[]): string[] => {
  if (process.platform !== 'linux') return []
  const built = existsSync(join(distDir, 'native', 'dcpscope_cuda.so'))
  return [
    ...(built
      ? []
      : [
          `the CUDA engine, which is not built: install nvcc (the CUDA toolkit) where it is missing, then run "${buildCommand()}"`,
        ]),
    ...(gpus.length > 0 ? [] : ['an NVIDIA GPU with its driver, for the CUDA engine']),
    ...(built && gpus.length > 0 && !cuda.available ? [`CUDA engine: ${cuda.reason}`] : []),
  ]
}

const missingForWindow = (electron: RuntimeDescription): string[] => [
  ...(hasDisplay() ? [] : ['a display (DISPLAY or WAYLAND_DISPLAY), for the window']),
  ...(electron.version === null
    ? [
        `Electron, for the window (${electron.source}): run "npm start"${hasDisplay() ? '' : ' where there is a display'}`,
      ]
    : []),
]

const hasDisplay = (): boolean =>
  process.platform !== 'linux' || [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some(Boolean)

interface EngineAnswer {
  readonly cpu: EngineReport
  /** Absent when there is no engine that could say. */
  readonly cuda?: CudaInfo | undefined
}

const noEngine = (reason: string): EngineAnswer => ({ cpu: { available: false, reason } })

/** In its own process, as an engine that does not fit the processor or the driver ends the process that loads it. */
const askEngine = async (distDir: string): Promise<EngineAnswer> => {
  try {
    const engine = startEngine(distDir)
    const ready = new Promise<EngineAnswer>((resolve) => {
      engine.onEvent((event) => {
        if (event.type !== 'ready') return
        const cores = `${event.cores} ${event.cores === 1 ? 'core' : 'cores'}`
        const free = `${(event.memoryAvailableBytes / 2 ** 30).toFixed(1)} GiB available`
        const reason = `engine ${event.version}, ${cores}, ${event.simd}, ${free}`
        resolve({ cpu: { available: true, reason }, cuda: event.cuda })
      })
    })
    const answer = await Promise.race([ready, engine.exited.then(noEngine)])
    await engine.close()
    return answer
  } catch (error) {
    return noEngine(messageOf(error))
  }
}

export const doctorText = (report: DoctorReport): string => {
  const engine = ({ available, reason }: EngineReport): string => `${available ? 'yes' : 'no'}, ${reason}`
  const { electron } = report
  return [
    `CPU engine   ${engine(report.engines.cpu)}`,
    `CUDA engine  ${engine(report.engines.cuda)}`,
    ...(report.gpus.length === 0 ? ['GPUs         none found'] : []),
    ...report.gpus.map(
      ({ name, computeCapability, memoryMiB, driver }) =>
        `GPU          ${name}, compute capability ${computeCapability}, ${memoryMiB} MiB, driver ${driver}`,
    ),
    ...(report.gpuLinks === undefined ? [] : linksText(report.gpuLinks)),
    `Electron     ${electron.version ?? 'none'}, ${electron.source}`,
    `Node         ${report.nodeVersion}`,
    ...(report.missing.length === 0 ? ['Missing      nothing'] : []),
    ...report.missing.map((what) => `Missing      ${what}`),
  ].join('\n')
}
