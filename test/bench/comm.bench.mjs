// The transports between ranks with a process and a GPU each, by the product's own runs: a table on stderr, one JSON document on
// stdout. Needs the built command line in dist; with one GPU it only times the kernels, by build/cuda/dcpscope_gpu_tests.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import {
  compare,
  EXCHANGE_STAGES,
  figuresOf,
  kernelsOf,
  stagesOf,
  tableOf,
  timingsOf,
} from './comm-figures.mjs'

const HELP = `
npm run bench -- comm [--ranks N,...] [--tokens T,...] [--comm NAME,...] [--queries KIND,...] [--steps N] [--layers N]
                      [--device cuda|cpu] [--json FILE]
--ranks N,...       sizes of the group (default: those of 2,4,8 that there are GPUs for)
--tokens T,...      query tokens of a step, 128 heads each (default 1,8,32,128,512)
--comm NAME,...     ag_rs, ag_rs-fp32 (partials in flight as fp32), a2a, p2p (default: all)
--queries KIND,...  gathered, replicated (default: both)
--steps N           measured steps of each run (default 30)
--layers N          layers of each step (default 8)
--device cpu        ranks on the CPUs of this machine, to try the benchmark itself
--json FILE         writes the JSON document there as well`

const HEADS = 128
const WARMUP = 5
/** Keys of each rank: attention is to be short, and as long on all ranks. */
const KEYS = 64
const TRANSPORTS = {
  ag_rs: { comm: 'ag_rs', wireDtype: 'out' },
  'ag_rs-fp32': { comm: 'ag_rs', wireDtype: 'fp32' },
  a2a: { comm: 'a2a', wireDtype: 'out' },
  p2p: { comm: 'p2p', wireDtype: 'out' },
}
const QUERIES = { gathered: false, replicated: true }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'dist/cli.js')
const KERNELS = join(ROOT, 'build/cuda/dcpscope_gpu_tests')
/** In the pack for servers there is no npm. */
const IS_PACK = existsSync(join(ROOT, 'build.sh'))

const say = (message) => process.stderr.write(`dcpscope: ${message}\n`)

const end = (message, code) => {
  say(message)
  process.exit(code)
}

const given = () => {
  try {
    return parseArgs({
      options: {
        ranks: { type: 'string' },
        tokens: { type: 'string', default: '1,8,32,128,512' },
        comm: { type: 'string', default: Object.keys(TRANSPORTS).join(',') },
        queries: { type: 'string', default: Object.keys(QUERIES).join(',') },
        steps: { type: 'string', default: '30' },
        layers: { type: 'string', default: '8' },
        device: { type: 'string', default: 'cuda' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    return end(`${error.message}; see --help`, 2)
  }
}

const wholeNumber = (text, name, least, most) => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most && text.trim() !== '') return value
  return end(`--${name}: must be whole numbers from ${least} to ${most}, got ${JSON.stringify(text)}`, 2)
}

const numbers = (list, name, least, most) =>
  list.split(',').map((text) => wholeNumber(text, name, least, most))

const named = (list, name, known) =>
  list.split(',').map((text) => {
    if (Object.hasOwn(known, text)) return known[text]
    return end(`--${name}: must be ${Object.keys(known).join(' or ')}, got ${JSON.stringify(text)}`, 2)
  })

/** Runs the command line; gives what it prints as JSON, or throws its one line. */
const dcpscope = (args) => {
  const env = { ...process.env, ...(IS_PACK ? { DCPSCOPE_SERVER_PACK: ROOT } : {}) }
  // A launcher's place would make this one rank of a group.
  for (const name of ['RANK', 'OMPI_COMM_WORLD_RANK', 'PMI_RANK', 'SLURM_PROCID']) delete env[name]
  const done = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', env, maxBuffer: 1 << 30 })
  if (done.status === 0) return JSON.parse(done.stdout)
  throw new Error(done.stderr.trim().replace(/^dcpscope: /, '') || `ended with ${done.signal ?? done.status}`)
}

const configOf = ({ ranks, comm, wireDtype, replicateQ, tokens }, { device, steps, layers }) => ({
  model: { heads: HEADS, layers },
  parallel: { tpSize: ranks, dcpSize: ranks, comm, wireDtype, replicateQ },
  workload: { requests: [{ contextLen: KEYS * ranks, count: tokens }], steps, warmup: WARMUP },
  engine: { device, ranks: 'processes', graph: device === 'cuda', rowStats: false },
  check: { rows: 'none' },
  capture: { steps: 'none' },
})

const spansSql = (comm) =>
  'SELECT rank, step, layer, stage, start_ns, dur_ns, bytes, enter_ns, last_enter_ns FROM spans ' +
  `WHERE stage IN (${stagesOf(comm)
    .map((stage) => `'${stage}'`)
    .join(', ')})`

/** Runs a point and reads its bundle, which is gone afterwards. */
const measured = (point, how) => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-comm-'))
  try {
    const [config, bundle] = [join(folder, 'run.json'), join(folder, 'run.dcp')]
    writeFileSync(config, JSON.stringify(configOf(point, how)))
    dcpscope(['run', config, '--out', bundle, '--json'])
    const spans = dcpscope(['query', bundle, spansSql(point.comm), '--format', 'json'])
    const { clock, devices, emulated, timeSliced } = JSON.parse(
      readFileSync(join(bundle, 'run.json'), 'utf8'),
    )
    const caveat = emulated ?? timeSliced
    return {
      ...figuresOf(point, spans),
      device: devices[0]?.name,
      clockUncertaintyUs: clock.uncertaintyNs / 1e3,
      ...(caveat === undefined ? {} : { caveat }),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What there is of GPUs: how many, and whether NCCL is there. */
const machineOf = () => {
  if (!existsSync(CLI)) end(`${CLI} is missing; npm run build builds it`, 3)
  const { engines, gpus, gpuLinks } = dcpscope(['doctor', '--json'])
  if (!engines.cuda.available) end(`the transports need GPUs: ${engines.cuda.reason}`, 3)
  return { gpus: gpuLinks === undefined ? gpus.length : Math.max(1, gpuLinks.peers.length), gpuLinks }
}

/** Kernels of an exchange alone, where their program is. `p2p` finds the flags of its peers set already. */
const kernelTimes = () => {
  if (!existsSync(KERNELS)) return []
  const { stdout } = spawnSync(KERNELS, ['ops/time'], { encoding: 'utf8', maxBuffer: 1 << 26 })
  return kernelsOf(stdout ?? '')
}

const write = (file, text) => {
  try {
    writeFileSync(file, text)
  } catch (error) {
    end(`--json: ${file} cannot be written: ${error.message.replace(/,.*$/s, '')}`, 2)
  }
}

const { help, json, device, ...lists } = given()
if (help) {
  process.stdout.write(`${HELP.trim()}\n`)
  process.exit(0)
}
if (device !== 'cuda' && device !== 'cpu')
  end(`--device: must be cuda or cpu, got ${JSON.stringify(device)}`, 2)
const how = {
  device,
  steps: numbers(lists.steps, 'steps', 1, 10_000)[0],
  layers: numbers(lists.layers, 'layers', 1, 512)[0],
}
const tokenCounts = numbers(lists.tokens, 'tokens', 1, 4096)
const transports = named(lists.comm, 'comm', TRANSPORTS)
const queries = named(lists.queries, 'queries', QUERIES)
const asked = lists.ranks === undefined ? undefined : numbers(lists.ranks, 'ranks', 2, 64)

const machine = device === 'cuda' ? machineOf() : { gpus: Number.POSITIVE_INFINITY }
const tooMany = asked?.find((ranks) => ranks > machine.gpus)
if (tooMany !== undefined && machine.gpus > 1)
  end(`--ranks: ${tooMany} ranks need a GPU each, and there are ${machine.gpus}`, 3)
const sizes = machine.gpus === 1 ? [] : (asked ?? [2, 4, 8]).filter((ranks) => ranks <= machine.gpus)
if (machine.gpus === 1)
  say('exchanges between GPUs need two or more, and there is one: only kernels are timed, all flags set')

const usable = transports.filter(
  ({ comm }) => comm === 'p2p' || machine.gpuLinks === undefined || machine.gpuLinks.nccl.available,
)
if (usable.length < transports.length) say(`only p2p is measured: ${machine.gpuLinks.nccl.reason}`)
const points = sizes.flatMap((ranks) =>
  tokenCounts.flatMap((tokens) =>
    queries.flatMap((replicateQ) =>
      usable.map((transport) => ({ ranks, ...transport, replicateQ, tokens, heads: HEADS })),
    ),
  ),
)

const figures = []
const failed = []
for (const [i, point] of points.entries()) {
  const name = `${point.ranks} ranks, ${point.comm} ${point.wireDtype}, ${point.tokens} tokens`
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${i + 1}/${points.length} ${name}`)
  try {
    figures.push(measured(point, how))
  } catch (error) {
    failed.push({ ...point, error: error.message })
  }
}
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
const kernels = device === 'cuda' ? kernelTimes() : []
// How ranks fare that share the cores of a machine says nothing of GPUs.
const comparisons = device === 'cuda' ? compare(figures) : []
if (device === 'cpu') say('ranks on CPUs: this tries the benchmark, its times are none of GPUs')
if (figures.length > 0) process.stderr.write(`${tableOf(figures, comparisons)}\n`)
for (const { tokens, name, us } of kernels)
  if (/^merge|^lse|^out|^pack|^exchange/.test(name))
    process.stderr.write(`kernel alone, ${HEADS} heads, 8 ranks, ${tokens} tokens: ${name} ${us} us\n`)
for (const { ranks, comm, wireDtype, tokens, error } of failed)
  say(`${ranks} ranks, ${comm} ${wireDtype}, ${tokens} tokens failed: ${error}`)
const text = JSON.stringify(
  {
    benchmark: 'comm',
    device: figures[0]?.device ?? device,
    kind: device,
    ...(machine.gpuLinks === undefined ? {} : { gpuLinks: machine.gpuLinks }),
    ...{ steps: how.steps, layers: how.layers, stages: EXCHANGE_STAGES },
    figures,
    comparisons,
    timings: device === 'cuda' ? timingsOf(figures) : [],
    kernels,
    failed,
  },
  null,
  2,
)
if (json !== undefined) write(json, `${text}\n`)
process.stdout.write(`${text}\n`)
if (figures.length === 0 && kernels.length === 0) end('nothing was measured', 3)
process.exit(failed.length === 0 ? 0 : 3)
