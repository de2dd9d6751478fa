import { execFileSync } from 'node:child_process'
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listParts } from '../../../main/store/bundle-files.ts'
import { readManifest } from '../../../main/store/manifest-file.ts'
import { Store } from '../../../main/store/store.ts'
import { evenSpans, fakeEngine, scratchFolder, spanChunk, stepChunk } from './sample.ts'

const scratch = scratchFolder()
const disk = join(scratch.path, 'disk')

/** A file system of 4 MB; false where this user or system cannot mount one. */
const mounted = ((): boolean => {
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    console.warn(
      'SKIPPED: a full disk, since a small file system cannot be mounted here (needs root on Linux)',
    )
    return false
  }
})()
let store: Store
beforeAll(() => {
  store = new Store()
})
afterAll(async () => {
  await store.close()
  if (mounted) execFileSync('umount', [disk])
  scratch.remove()
})

const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(disk)
  return bavail * bsize
}

describe.runIf(mounted)('a full disk', () => {
  it('ends the run as failed with one sentence, and what was written opens', async () => {
    const bundle = join(disk, 'run.dcp')
    const engine = fakeEngine()
    store.attachEngine(engine.storeEnd)
    engine.begin(bundle)
    engine.chunk(stepChunk(0, 7, () => 0.001))
    engine.chunk(spanChunk(0, evenSpans(1000)))
    await expect.poll(() => listParts(bundle, 'steps').length, { timeout: 20_000 }).toBe(1)
    // All but the last page of the disk.
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, freeBytes() - 4096)))
    for (let i = 0; i < 40; i++) engine.chunk(spanChunk(1, evenSpans(20_000, 7 + i)))
    const { error } = await engine.reply('failed')
    expect(error).toBe(`the run could not be written: the disk is full: ${bundle}`)
    expect(readManifest(bundle)).toMatchObject({ status: 'failed', error, summary: { steps: 7 } })
    expect(await store.handle({ type: 'open', seq: 0, folder: bundle })).toMatchObject({ type: 'opened' })
    expect(await store.request('runInfo', { run: 'run-1' })).toMatchObject({ steps: 7, spanCount: 1000 })
  }, 60_000)

  it('refuses a run before anything is written when it is full from the start', async () => {
    writeFileSync(join(disk, 'more'), Buffer.alloc(Math.max(0, freeBytes() - 4096)))
    const engine = fakeEngine('run-2')
    store.attachEngine(engine.storeEnd)
    engine.begin(join(disk, 'second.dcp'))
    expect(await engine.reply('failed')).toMatchObject({
      error: `the run could not be written: the disk is full: ${join(disk, 'second.dcp')}`,
    })
  })
})
