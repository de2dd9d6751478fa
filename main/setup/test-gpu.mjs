// @ts-check
import { join } from 'node:path'
import { buildAll } from './build-steps.mjs'
import { gpuEnvironment, readyGpuPrograms } from './gpu.mjs'
import { runScript, SetupError } from './report.mjs'
import { ROOT, runForeground } from './shell.mjs'
import { clearReports, conclude, vitest } from './suites.mjs'

const HELP = `
npm run test:gpu [-- ARGUMENTS]
Builds everything and runs the tests of test/gpu on this machine's GPU; without one they are skipped. ARGUMENTS go to
vitest: a file name, -t TITLE and so on.
npm run test:gpu -- --kernels [ARGUMENTS]
Only the tests of the kernels, which are C++ and need no npm packages. ARGUMENTS go to build/cuda/dcpscope_gpu_tests,
which can also be copied to a machine with a GPU and run there.`

/** @param {readonly string[]} args */
const kernels = async (args) => {
  const reason = await readyGpuPrograms()
  if (reason !== undefined) throw new SetupError(reason, 3)
  return runForeground(join(ROOT, 'build/cuda/dcpscope_gpu_tests'), args)
}

runScript(async () => {
  const args = process.argv.slice(2)
  if (args[0] === '--help') {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  if (args[0] === '--kernels') return kernels(args.slice(1))
  clearReports()
  await buildAll()
  const env = await gpuEnvironment()
  return conclude([await vitest('GPU tests', 'gpu', ['test/gpu/', ...args], env, { mayRunNone: true })])
})
