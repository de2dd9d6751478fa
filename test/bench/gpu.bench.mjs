// Decode attention on a GPU against the best known kernels (h200-best.json) and the limit of the hardware: a table on
// stderr, one JSON document on stdout. Needs nothing but build/cuda/dcpscope_gpu_bench, or what that printed elsewhere.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, nameOf, summarise, tableOf } from './gpu-table.mjs'

const HELP = `
npm run bench -- gpu [--filter TEXT] [--json FILE] [--input FILE]
--filter TEXT  only shapes whose name contains TEXT, such as bf16-h16-q1-r64-c32768
--json FILE    writes the JSON document there as well
--input FILE   what dcpscope_gpu_bench printed on another machine, - for standard input; nothing runs here`

const PROGRAM = fileURLToPath(new URL('../../build/cuda/dcpscope_gpu_bench', import.meta.url))
const BEST = JSON.parse(readFileSync(new URL('h200-best.json', import.meta.url), 'utf8'))

const end = (message, code) => {
  process.stderr.write(`dcpscope: ${message}\n`)
  process.exit(code)
}

const options = () => {
  try {
    return parseArgs({
      options: {
        filter: { type: 'string', default: '' },
        json: { type: 'string' },
        input: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    return end(`${error.message}; see --help`, 2)
  }
}

/** Lines of the benchmark, which takes a minute or so. */
const measured = (filter) => {
  if (!existsSync(PROGRAM)) end(`${PROGRAM} is missing; npm run bench -- gpu builds it`, 3)
  const { status, signal, stdout, stderr } = spawnSync(PROGRAM, filter === '' ? [] : ['--filter', filter], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) end(stderr.trim() || `the benchmark ended with ${signal ?? status}`, 3)
  return stdout
}

const { filter, json, input, help } = options()
if (help) {
  process.stdout.write(`${HELP.trim()}\n`)
  process.exit(0)
}
const text = input === undefined ? measured(filter) : readFileSync(input === '-' ? 0 : input, 'utf8')
const lines = text
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line))
const ceilings = lines.find((line) => line.readBandwidth > 0 && line.matrixRate > 0)
if (ceilings === undefined) end('the benchmark gave no ceilings (readBandwidth, matrixRate)', 3)
const shapes = lines.filter((line) => line.us > 0 && nameOf(line).includes(filter))
if (shapes.length === 0) end(`no shape whose name contains ${filter}`, 2)

const rows = compare(shapes, ceilings, BEST)
const summary = summarise(rows)
const terabytes = (ceilings.readBandwidth / 1e12).toFixed(2)
process.stderr.write(`${tableOf(rows)}\n`)
process.stderr.write(
  `\n${ceilings.gpu}: read ${terabytes} TB/s, bf16 ${(ceilings.matrixRate / 1e12).toFixed(0)} TFLOP/s\n`,
)
for (const [kv, { shapes: count, wanted, reached, faster, worst, mean }] of Object.entries(summary))
  process.stderr.write(
    worst === undefined
      ? `${kv}: ${count} shapes, no best known\n`
      : `${kv}: ${reached} of ${count} shapes reach ${wanted} of the best, ${faster} beat it; mean ${mean.toFixed(2)}, worst ${worst.ratio.toFixed(2)} (${worst.name})\n`,
  )
const document = JSON.stringify(
  { ceilings, best: { gpu: BEST.gpu, ceilings: BEST.ceilings }, summary, rows },
  null,
  2,
)
if (json !== undefined) writeFileSync(json, `${document}\n`)
process.stdout.write(`${document}\n`)
