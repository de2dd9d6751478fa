// Decode attention on a GPU against the best known kernels (h200-best.json) and the limit of the hardware: a table on
// stderr, one JSON document on stdout. Needs nothing but build/cuda/dcpscope_gpu_bench, or what that printed elsewhere.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, nameOf, summarise, TOKEN_BYTES, tableOf } from './gpu-table.mjs'

const HELP = `
npm run bench -- gpu [--filter PARTS] [--portable] [--json FILE] [--input FILE]
--filter PARTS  only shapes with these parts of KV-hHEADS-qQLEN-rREQUESTS-cCONTEXT, such as bf16-h64 or r1-c4096
--portable      the kernel for any GPU from sm_80 on instead of the fastest
--json FILE     writes the JSON document there as well
--input FILE    what dcpscope_gpu_bench printed on another machine, - for standard input; nothing runs here`

/** In the pack for servers there is no npm. */
const BUILDER = existsSync(new URL('../../build.sh', import.meta.url))
  ? './build.sh --tests'
  : 'npm run bench -- gpu'
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
        portable: { type: 'boolean', default: false },
        json: { type: 'string' },
        input: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    return end(`${error.message}; see --help`, 2)
  }
}

const PARTS = { h: '--heads', q: '--q-len', r: '--requests', c: '--context' }

/** Arguments of the program for the parts of a filter. */
const argumentsOf = (filter) =>
  filter
    .split('-')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [, letter, number] = /^([hqrc])(\d+)$/.exec(part) ?? []
      return letter === undefined ? ['--kv', part] : [PARTS[letter], number]
    })

/** Whether a shape has all parts of a filter. */
const hasParts = (shape, filter) => {
  const parts = nameOf(shape).split('-')
  return filter.split('-').every((part) => part === '' || parts.includes(part))
}

/** Lines of the benchmark, which takes a minute or so. */
const measured = (filter, portable) => {
  if (!existsSync(PROGRAM)) end(`${PROGRAM} is missing; ${BUILDER} builds it`, 3)
  const args = [...argumentsOf(filter), ...(portable ? ['--portable'] : [])]
  const { status, signal, stdout, stderr } = spawnSync(PROGRAM, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (status !== 0) end(stderr.trim() || `the benchmark ended with ${signal ?? status}`, 3)
  return stdout
}

/** A failed system call in one line, without the name of the call. */
const reasonOf = (error) => error.message.replace(/,.*$/s, '')

/** Lines that were measured elsewhere. */
const given = (input) => {
  try {
    return readFileSync(input === '-' ? 0 : input, 'utf8')
  } catch (error) {
    return end(`--input: ${input} cannot be read: ${reasonOf(error)}`, 2)
  }
}

/** The JSON lines among all. Copied output may be cut or edited, so each is checked for what the table needs. */
const linesOf = (text, input) =>
  text.split('\n').flatMap((line, i) => {
    if (!line.startsWith('{')) return []
    const where = `${input === undefined ? 'the benchmark' : `--input: ${input}`}, line ${i + 1}`
    let found
    try {
      found = JSON.parse(line)
    } catch {
      return end(`${where}: is not JSON`, 2)
    }
    const lacks = found.us === undefined ? undefined : missingOf(found)
    return lacks === undefined ? [found] : end(`${where}: has no ${lacks}`, 2)
  })

/** What a shape must name and does not, or names as something unknown. */
const missingOf = (shape) =>
  !Object.hasOwn(TOKEN_BYTES, shape.kv ?? '')
    ? 'known kv'
    : ['heads', 'qLen', 'requests', 'context'].find((name) => !(shape[name] > 0))

const write = (file, text) => {
  try {
    writeFileSync(file, text)
  } catch (error) {
    end(`--json: ${file} cannot be written: ${reasonOf(error)}`, 2)
  }
}

/** The higher of each rate where it was measured several times: clocks move with what ran before. */
const highest = (ceilings) =>
  Object.fromEntries(
    Object.keys(ceilings[0] ?? {}).map((name) => [name, Math.max(...ceilings.map((one) => one[name] ?? 0))]),
  )

/**
 * The best known times go with the rate of a product by cuBLAS; where that library is missing the rate of the matrix
 * units stands in for it, which is higher and so makes the best known look faster.
 */
const ceilingsOf = (lines) => {
  const found = highest(lines.flatMap((line) => line.ceilings ?? []))
  const matrixRate = found.cublasRate > 0 ? found.cublasRate : found.matrixUnitRate
  if (!(found.readBandwidth > 0) || !(matrixRate > 0)) return undefined
  return { ...found, matrixRate }
}

const { filter, portable, json, input, help } = options()
if (help) {
  process.stdout.write(`${HELP.trim()}\n`)
  process.exit(0)
}
const text = input === undefined ? measured(filter, portable) : given(input)
const lines = linesOf(text, input)
const ceilings = ceilingsOf(lines)
if (ceilings === undefined)
  end('the benchmark gave no ceilings (readBandwidth, cublasRate or matrixUnitRate)', 3)
const shapes = lines.filter((line) => line.us > 0 && hasParts(line, filter))
if (shapes.length === 0) end(`no shape has all parts of ${filter}`, 2)

const rows = compare(shapes, ceilings, BEST)
const summary = summarise(rows)
process.stderr.write(`${tableOf(rows)}\n`)
process.stderr.write(
  `\nread ${(ceilings.readBandwidth / 1e12).toFixed(2)} TB/s, bf16 ${(ceilings.matrixRate / 1e12).toFixed(0)} TFLOP/s by ${ceilings.cublasRate > 0 ? 'cuBLAS' : 'the matrix units'}\n`,
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
if (json !== undefined) write(json, `${document}\n`)
process.stdout.write(`${document}\n`)
