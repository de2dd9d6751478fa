// One rank of the run in the JSON file argv[2], which also has the member of rank 0 and the GPU of each; argv[3] is the
// rank. Prints what it recorded as JSON, or `code: message` of what ended it; with `keep` captured tensors become files.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const addon = createRequire(import.meta.url)(
  process.env.DCPSCOPE_ADDON ?? fileURLToPath(new URL('../../dist/native/dcpscope.node', import.meta.url)),
)
const { config, segment, clockBaseNs, gpus, keep, network } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
)
const rank = Number(process.argv[3])
const member = {
  rank,
  segment,
  creates: rank === 0,
  clockBaseNs: BigInt(clockBaseNs),
  ...(gpus === undefined ? {} : { gpu: gpus[rank] }),
}

/** Where the first rank of a run over the network says where it listens. */
const portFile = `${process.argv[2]}.port`
const come = () => {
  if (!network) return addon.createRun(config, member)
  if (rank > 0 && !existsSync(portFile)) throw new Error('there is no place and no shared memory yet')
  const port = rank === 0 ? 0 : Number(readFileSync(portFile, 'utf8'))
  const run = addon.createRun(config, { ...member, network: { address: '127.0.0.1', port } })
  if (rank > 0) return run
  writeFileSync(`${portFile}.new`, String(run.port()))
  renameSync(`${portFile}.new`, portFile)
  return run
}

/** The first rank makes the memory, maybe later than this one looks for it. */
const created = async () => {
  for (let tries = 0; ; tries++)
    try {
      return come()
    } catch (error) {
      if (tries === 200 || rank === 0 || !String(error).includes('shared memory')) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
}

const tables = {}
const captures = {}
const tensorFiles = []

const collect = (run) => {
  for (let chunks = run.drain(1 << 20); chunks.length > 0; chunks = run.drain(1 << 20))
    for (const { table, rank: of, rows, columns } of chunks)
      for (let i = 0; i < rows; i++) {
        const row = Object.entries(columns).map(([name, values]) => [name, String(values[i])])
        tables[`${table} ${of}`] ??= []
        tables[`${table} ${of}`].push(Object.fromEntries(row))
      }
  for (const { step, layer, rank: of, tensors } of run.takeCaptures())
    for (const { name, dtype, shape, data } of tensors) {
      const bytes = new Uint8Array(data)
      captures[`${step} ${layer} ${of} ${name}`] = createHash('sha256').update(bytes).digest('hex')
      if (!keep) continue
      const file = join(dirname(process.argv[2]), `${rank} ${step} ${layer} ${of} ${name}`)
      writeFileSync(file, bytes)
      tensorFiles.push({ step, layer, rank: of, name, dtype, shape, file })
    }
}

try {
  const run = await created()
  const beats = setInterval(() => run.places(), 100)
  try {
    while ((await run.fill(20)) < 1);
    process.stderr.write('filled\n')
    for (let finished = false; !finished; collect(run))
      finished = (await run.advance(1 << 20, 20, 0)).finished
    console.log(JSON.stringify({ tables, captures, tensorFiles, dropped: run.dropped(), facts: run.facts() }))
  } catch (error) {
    collect(run)
    console.log(JSON.stringify({ tables, error: `${error.code}: ${error.message}`, places: run.places() }))
  } finally {
    clearInterval(beats)
    run.dispose()
  }
} catch (error) {
  console.log(JSON.stringify({ tables, error: `${error.code}: ${error.message}` }))
}
