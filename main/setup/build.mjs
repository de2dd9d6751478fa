// @ts-check
import { buildAll } from './build-steps.mjs'
import { plainArguments, runScript } from './report.mjs'

const HELP = `
npm run build
Builds everything into dist/: npm packages, native engine, processes, command line, window. Parts whose inputs
did not change are left as they are.`

runScript(async () => {
  plainArguments(HELP, process.argv.slice(2))
  await buildAll()
  return 0
})
