// @ts-check
import { existsSync } from 'node:fs'
import { buildGpuPrograms } from './build-steps.mjs'
import { say } from './report.mjs'
import { output, programPath } from './shell.mjs'

/** Devices of NVIDIA's driver on Linux, and of the GPU that Windows lends to its Linux. */
const DEVICES = ['/dev/nvidia0', '/dev/dxg']

/** Why nothing can run on a GPU here, or undefined. */
export const whyNoGpu = () => {
  if (DEVICES.some((path) => existsSync(path))) return undefined
  if (programPath('nvidia-smi') === undefined)
    return 'no NVIDIA GPU: this machine has neither its device nor nvidia-smi'
  return /^GPU /m.test(output('nvidia-smi', ['-L']) ?? '')
    ? undefined
    : 'no NVIDIA GPU: nvidia-smi lists none'
}

/** Compiles the programs of the GPU tests; gives why they cannot run, or undefined. @returns {Promise<string | undefined>} */
export const readyGpuPrograms = async () => {
  const reason = whyNoGpu()
  if (reason !== undefined) return reason
  return (await buildGpuPrograms()) ? undefined : 'no CUDA compiler: nvcc is not on this machine'
}

/**
 * Environment of the tests on a GPU: DCPSCOPE_NO_GPU says why they are skipped, and so does a line here.
 * @returns {Promise<Record<string, string>>}
 */
export const gpuEnvironment = async () => {
  const reason = await readyGpuPrograms()
  if (reason === undefined) return {}
  say(`THE TESTS ON A GPU ARE SKIPPED: ${reason}`)
  return { DCPSCOPE_NO_GPU: reason }
}
