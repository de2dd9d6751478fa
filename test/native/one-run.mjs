// Runs the configuration in the JSON file argv[2] and prints a digest of the captured tensors named after it
// (merged when none is named) of step 2, layer 1, rank 0.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const addon = createRequire(import.meta.url)(
  process.env.DCPSCOPE_ADDON ?? fileURLToPath(new URL('../../dist/native/dcpscope.node', import.meta.url)),
)
const names = process.argv.length > 3 ? process.argv.slice(3) : ['merged']
const run = addon.createRun(JSON.parse(readFileSync(process.argv[2], 'utf8')))
while ((await run.fill(1000)) < 1);
const hash = createHash('sha256')
for (let finished = false; !finished; ) {
  finished = (await run.advance(1000, 1000, 0)).finished
  run.drain(1 << 20)
  for (const capture of run.takeCaptures())
    if (capture.step === 2 && capture.layer === 1 && capture.rank === 0)
      for (const name of names) {
        const tensor = capture.tensors.find((t) => t.name === name)
        if (tensor === undefined) throw new Error(`no tensor ${name}`)
        hash.update(new Uint8Array(tensor.data))
      }
}
run.dispose()
console.log(hash.digest('hex'))
