import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listParts } from '../../../main/store/bundle-files.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import { Store } from '../../../main/store/store.ts'
import { scratchFolder } from './sample.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const scratch = scratchFolder()
// Below the root, so that the native packages are found from it.
const OUT = join(ROOT, 'build', 'killed-writer')

beforeAll(async () => {
  await build({
    configFile: false,
    logLevel: 'error',
    root: ROOT,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: OUT,
      target: 'node18',
      minify: false,
      rolldownOptions: {
        input: { child: 'test/unit/store/endless-writer.ts' },
        external: [/^@duckdb\//],
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  })
}, 60_000)
afterAll(() => scratch.remove())

const exited = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => child.once('exit', resolve))

it('leaves a bundle that opens as interrupted, with every closed part, when it is killed', async () => {
  const bundle = join(scratch.path, 'killed.dcp')
  const child = fork(join(OUT, 'child.cjs'), [bundle], { stdio: 'ignore' })
  const gone = exited(child)
  await expect
    .poll(() => listParts(bundle, 'spans').length, { timeout: 30_000, interval: 20 })
    .toBeGreaterThan(3)
  expect(readManifest(bundle).status).toBe('running')
  child.kill('SIGKILL')
  await gone
  const parts = listParts(bundle, 'spans').length
  const store = new Store()
  try {
    const answer = await store.handle({ type: 'open', seq: 0, folder: bundle })
    if (answer?.type !== 'opened') throw new Error(JSON.stringify(answer))
    const info = await store.request('runInfo', { run: answer.run })
    expect(info.manifest).toMatchObject({ status: 'interrupted', error: expect.stringContaining('gone') })
    expect(info.spanCount).toBeGreaterThanOrEqual(parts * 100)
    const { rows } = await store.request('query', {
      run: answer.run,
      sql: 'SELECT count(*), count(DISTINCT rank) FROM spans',
      limit: 1,
    })
    expect(rows).toEqual([[info.spanCount, 2]])
  } finally {
    await store.close()
  }
}, 60_000)
