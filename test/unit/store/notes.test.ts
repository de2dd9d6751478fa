import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { isNoteOf, type Note, withNote } from '../../../app/trace/notes.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { evenSpans, fakeEngine, type Scratch, spanChunk } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const run = 'run-1'
const bundle = (): string => join(scratch.path, 'run.dcp')
const note = (startNs: number, text: string, rank = 0): Note => ({
  rank,
  stage: 'decode_attn',
  startNs,
  durNs: 5,
  step: 3,
  layer: 1,
  text,
  changedAt: '2026-01-01T00:00:00.000Z',
})

beforeEach(async () => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(bundle())
  engine.chunk(spanChunk(0, evenSpans(20)))
  engine.end()
  await engine.reply('closed')
})

const notes = () => store.request('notes', { run })
const write = (one: Note) => store.request('writeNote', { run, note: one })

const NOWHERE = { stages: [], page: null, step: null, layer: null, rank: null, request: null, limit: 10 }
const find = async (words: string[], more: object = {}) =>
  (await store.request('find', { run, ...NOWHERE, words, ...more })).notes.map(({ text }) => text)

describe('notes on spans', () => {
  it('are kept in the bundle, changed, and taken away with the file of the last one', async () => {
    expect(await notes()).toEqual([])
    await write(note(30, 'late'))
    await write(note(10, 'early'))
    await write(note(30, 'later'))
    expect((await notes()).map(({ text }) => text)).toEqual(['early', 'later'])
    expect(JSON.parse(readFileSync(join(bundle(), 'notes.json'), 'utf8'))).toMatchObject({
      format: 'dcpscope-notes',
      version: 1,
    })
    await write(note(10, ' '))
    expect(await write(note(30, ''))).toEqual([])
    expect(existsSync(join(bundle(), 'notes.json'))).toBe(false)
    expect(readdirSync(bundle()).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('leave the bundle as readable as before', async () => {
    const before = await store.request('runInfo', { run })
    await write(note(10, 'a note'))
    expect(await store.request('runInfo', { run })).toEqual(before)
    expect(await store.handle({ type: 'open', seq: 1, folder: bundle() })).toMatchObject({ type: 'opened' })
  })

  it('are found by their words, stage and place', async () => {
    await write(note(10, 'Slow cache miss'))
    await write(note(30, 'fine', 1))
    expect(await find(['cache', 'slow'])).toEqual(['Slow cache miss'])
    expect(await find(['notes'])).toEqual(['Slow cache miss', 'fine'])
    expect(await find(['notes'], { rank: 1 })).toEqual(['fine'])
    expect(await find(['decode_attn'], { step: 4 })).toEqual([])
    expect(await find([])).toEqual([])
  })

  it('that are damaged are named, kept from being overwritten, and do not stop a search', async () => {
    const file = join(bundle(), 'notes.json')
    for (const text of ['{"format":', '{"format": "dcpscope-notes", "version": 1, "notes": [{}]}']) {
      writeFileSync(file, text)
      await expect(notes()).rejects.toThrow(/the notes of the bundle cannot be read: .*notes\.json/)
      await expect(write(note(1, 'x'))).rejects.toThrow(/move the file away/)
      expect(readFileSync(file, 'utf8')).toBe(text)
      expect(await find(['notes'])).toEqual([])
    }
    rmSync(file)
    mkdirSync(file)
    await expect(notes()).rejects.toThrow(/they are not a file/)
  })

  it('that cannot be written say so, and leave those that there were', async () => {
    await write(note(10, 'kept'))
    // In the way of the temporary file, as a folder that may not be written to would be.
    mkdirSync(join(bundle(), '.notes.json.tmp', 'x'), { recursive: true })
    await expect(write(note(20, 'lost'))).rejects.toThrow(
      /the note was not kept, as the bundle cannot be written to/,
    )
    expect((await notes()).map(({ text }) => text)).toEqual(['kept'])
  })

  it('have one text each, in order of time', () => {
    const texts = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom('', 'a', 'b')))
    fc.assert(
      fc.property(texts, (changes) => {
        let all: readonly Note[] = []
        for (const [start, text] of changes) all = withNote(all, note(start, text))
        for (const [i, one] of all.entries()) {
          expect(one.text).not.toBe('')
          expect(all.filter((other) => isNoteOf(other, one))).toHaveLength(1)
          if (i > 0) expect(one.startNs).toBeGreaterThan(all[i - 1]?.startNs ?? 0)
        }
        for (const [start] of changes) {
          const last = changes.findLast(([at]) => at === start)?.[1]
          expect(all.find(({ startNs }) => startNs === start)?.text ?? '').toBe(last)
        }
      }),
    )
  })
})
