import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describeRuntime } from './electron-runtime.ts'
import { startEngine } from './engine-process.ts'
import { messageOf } from './failure.ts'

export interface EngineReport {
  readonly available: boolean
  /** What it is when available, why not otherwise. */
  readonly reason: string
}

export interface Gpu {
  readonly name: string
  readonly memoryMiB: number
  readonly driver: string
}

export interface DoctorReport {
  readonly engines: { readonly cpu: EngineReport; readonly cuda: EngineReport }
  readonly gpus: readonly Gpu[]
  readonly electron: { readonly version: string | null; readonly source: string }
  readonly nodeVersion: string
  /** What would have to be there for everything to work, one sentence each. */
  readonly missing: readonly string[]
}

/** Looks at this machine. Nothing is changed or installed. */
export const examine = async (distDir: string): Promise<DoctorReport> => {
  const [cpu, gpus] = await Promise.all([cpuEngine(distDir), findGpus()])
  const runtime = describeRuntime(distDir)
  return {
    engines: { cpu, cuda: { available: false, reason: 'this version has the CPU engine only' } },
    gpus,
    electron: { version: runtime.version, source: runtime.source },
    nodeVersion: process.versions.node,
    missing: [
      ...(cpu.available ? [] : [`CPU engine: ${cpu.reason}`]),
      ...(runtime.version === null ? [`Electron, for the window (${runtime.source}): run "npm start"`] : []),
      ...(hasDisplay() ? [] : ['a display (DISPLAY or WAYLAND_DISPLAY), for the window']),
    ],
  }
}

const hasDisplay = (): boolean =>
  process.platform !== 'linux' || [process.env.DISPLAY, process.env.WAYLAND_DISPLAY].some(Boolean)

/** In its own process, as an engine that does not fit the processor ends the process that loads it. */
const cpuEngine = async (distDir: string): Promise<EngineReport> => {
  try {
    const engine = startEngine(distDir)
    const ready = new Promise<EngineReport>((resolve) => {
      engine.onEvent((event) => {
        if (event.type !== 'ready') return
        const cores = `${event.cores} ${event.cores === 1 ? 'core' : 'cores'}`
        const free = `${(event.memoryAvailableBytes / 2 ** 30).toFixed(1)} GiB available`
        resolve({ available: true, reason: `engine ${event.version}, ${cores}, ${event.simd}, ${free}` })
      })
    })
    const dead = engine.exited.then((how): EngineReport => ({ available: false, reason: how }))
    const report = await Promise.race([ready, dead])
    await engine.close()
    return report
  } catch (error) {
    return { available: false, reason: messageOf(error) }
  }
}

const NVIDIA_SMI = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader,nounits']

/** GPUs as the driver's own tool lists them; none where the tool is not there or fails. */
const findGpus = async (): Promise<Gpu[]> => {
  try {
    const { stdout } = await promisify(execFile)('nvidia-smi', NVIDIA_SMI, { timeout: 10_000 })
    return parseGpus(stdout)
  } catch {
    return []
  }
}

export const parseGpus = (csv: string): Gpu[] =>
  csv.split('\n').flatMap((line) => {
    const [name, memory, driver] = line.split(',').map((part) => part.trim())
    return name === undefined || memory === undefined || driver === undefined
      ? []
      : [{ name, memoryMiB: Number(memory), driver }]
  })

export const doctorText = (report: DoctorReport): string => {
  const engine = ({ available, reason }: EngineReport): string => `${available ? 'yes' : 'no'}, ${reason}`
  const { electron } = report
  return [
    `CPU engine   ${engine(report.engines.cpu)}`,
    `CUDA engine  ${engine(report.engines.cuda)}`,
    ...(report.gpus.length === 0 ? ['GPUs         none found'] : []),
    ...report.gpus.map((gpu) => `GPU          ${gpu.name}, ${gpu.memoryMiB} MiB, driver ${gpu.driver}`),
    `Electron     ${electron.version === null ? 'none' : `${electron.version}, ${electron.source}`}`,
    `Node         ${report.nodeVersion}`,
    ...(report.missing.length === 0 ? ['Missing      nothing'] : []),
    ...report.missing.map((what) => `Missing      ${what}`),
  ].join('\n')
}
