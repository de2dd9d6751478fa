import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SweepEnd } from '../../../app/protocol/sweep.ts'
import { HEARTBEAT_MS, MISSED_PINGS } from '../../../main/desktop/supervised.ts'
import { createSweeper, type SweepStart } from '../../../main/desktop/sweeper.ts'
import { runIdOf } from '../../../main/process/run-id.ts'
import { sweepOf } from '../sweep/sample.ts'
import { fakeForge, types } from './fake-forge.ts'

const BUNDLE = '/runs/new.dcp'
const BEGIN: SweepStart = { type: 'begin', folder: BUNDLE, name: 'new', config: sweepOf({}) }
const END: SweepEnd = { status: 'stopped', kept: true, points: 9, measured: 4, failed: 0 }
const MEASURING = {
  type: 'progress',
  progress: {
    phase: 'measuring',
    done: 1,
    total: 9,
    key: 'tp',
    repeat: 0,
    repeats: 3,
    failed: 0,
    secondsLeft: 60,
  },
}
const KILLED = { how: 'killed', code: 9 } as const

const desk = () => {
  const forge = fakeForge()
  const marked: string[][] = []
  const complaints: string[] = []
  let changes = 0
  const sweeper = createSweeper({
    forge,
    changed: () => changes++,
    complain: (sentence) => complaints.push(sentence),
    markInterrupted: (bundle, reason) => marked.push([bundle, reason]),
  })
  const host = () => forge.latest('sweep')
  const engine = () => forge.latest('engine')
  return { forge, sweeper, host, engine, marked, complaints, changes: () => changes }
}

const measuring = () => {
  const all = desk()
  all.sweeper.start(BEGIN)
  all.host().say({ type: 'ready' })
  all.host().say({ type: 'forkEngine', engine: 1 })
  all.host().say(MEASURING)
  return all
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a sweep of the window', () => {
  it('is measured by a process of its own, which is told what at once', () => {
    const { sweeper, host } = desk()
    expect(sweeper.start(BEGIN)).toEqual({ ok: true, run: runIdOf(BUNDLE) })
    expect(host().received.map(({ message }) => message)).toEqual([BEGIN])
    expect(sweeper.active()).toEqual({
      run: runIdOf(BUNDLE),
      name: 'new',
      kept: false,
      pausing: false,
      progress: null,
    })
  })

  it('has a bundle once points are measured, and from the beginning where it goes on', () => {
    const { sweeper, host } = desk()
    sweeper.start(BEGIN)
    host().say({ type: 'progress', progress: { phase: 'calibrating', done: 0, total: 6 } })
    expect(sweeper.active()).toMatchObject({ kept: false, progress: { phase: 'calibrating' } })
    host().say(MEASURING)
    expect(sweeper.active()).toMatchObject({ kept: true, progress: { done: 1, total: 9 } })
    host().say({ type: 'ended', end: END })
    sweeper.start({ type: 'goOn', folder: BUNDLE })
    expect(sweeper.active()).toMatchObject({ name: 'new', kept: true })
  })

  it('gets an engine when it asks for one, with a line for its trace and all that either says relayed', () => {
    const { host, engine } = measuring()
    expect(types(engine())).toEqual(['store-port'])
    expect(engine().received[0]?.ports).toEqual(['1a'])
    expect(host().received.at(-1)).toEqual({ message: { type: 'engine-port' }, ports: ['1b'] })
    host().say({ type: 'engineCommand', engine: 1, command: { type: 'stop' } })
    expect(engine().received.at(-1)?.message).toEqual({ type: 'stop' })
    const event = { type: 'ended', runId: 'r', status: 'stopped' }
    engine().say(event)
    expect(host().received.at(-1)?.message).toEqual({ type: 'engineEvent', engine: 1, event })
  })

  it('ends both processes with its end, and says how it was', () => {
    const { sweeper, host, engine, forge, changes } = measuring()
    const before = changes()
    host().say({ type: 'ended', end: END })
    expect([host().killed, engine().killed]).toEqual([true, true])
    expect(sweeper.active()).toBeNull()
    expect(sweeper.last()).toEqual({ seq: 1, run: runIdOf(BUNDLE), name: 'new', end: END })
    expect(changes()).toBe(before + 1)
    // What comes late changes nothing.
    host().say(MEASURING)
    host().die(KILLED)
    expect(sweeper.active()).toBeNull()
    expect(sweeper.last()?.seq).toBe(1)
    sweeper.start(BEGIN)
    host().say({ type: 'ended', end: END })
    expect(sweeper.last()?.seq).toBe(2)
    expect(forge.children).toHaveLength(3)
  })

  it('is paused by asking the process to stop, and by nothing else', () => {
    const { sweeper, host } = measuring()
    expect(sweeper.pause()).toEqual({ ok: true, run: runIdOf(BUNDLE) })
    expect(host().received.at(-1)?.message).toEqual({ type: 'stop' })
    expect(sweeper.active()).toMatchObject({ pausing: true })
    expect(host().killed).toBe(false)
    host().say({ type: 'ended', end: END })
    expect(sweeper.pause()).toMatchObject({ ok: false, message: 'No sweep is being measured.' })
  })

  it('is told of the death of its engine with the reason, and may ask for another', () => {
    const { sweeper, host, engine, forge } = measuring()
    const first = engine()
    first.words = 'out of pages'
    first.die({ how: 'crashed', code: 11 })
    expect(host().received.at(-1)?.message).toEqual({
      type: 'engineGone',
      engine: 1,
      how: 'The engine process crashed (code 11). Its last message: out of pages',
    })
    expect(sweeper.active()).not.toBeNull()
    host().say({ type: 'forkEngine', engine: 2 })
    expect(engine()).not.toBe(first)
    expect(forge.children).toHaveLength(3)
    // What was meant for the first must not reach the second.
    host().say({ type: 'engineCommand', engine: 1, command: { type: 'stop' } })
    expect(types(engine())).toEqual(['store-port'])
    host().say({ type: 'endEngine', engine: 2 })
    expect(engine().killed).toBe(true)
    expect(host().received.at(-1)?.message).toMatchObject({ type: 'engineGone', engine: 2 })
  })

  it('ends with its process as interrupted, which its bundle is told', () => {
    const { sweeper, host, engine, marked } = measuring()
    host().die(KILLED)
    const sentence = 'The sweep process was killed (signal 9).'
    expect(sweeper.active()).toBeNull()
    expect(sweeper.last()?.end).toEqual({
      status: 'interrupted',
      kept: true,
      points: 9,
      measured: 1,
      failed: 0,
      error: sentence,
    })
    expect(marked).toEqual([[BUNDLE, sentence]])
    expect(engine().killed).toBe(true)
  })

  it('leaves nothing to mark when its process dies before there was a bundle', () => {
    const { sweeper, host, marked } = desk()
    sweeper.start(BEGIN)
    host().die({ how: 'launch' })
    expect(marked).toEqual([])
    expect(sweeper.last()?.end).toMatchObject({ status: 'interrupted', kept: false, measured: 0 })
  })

  it('ends when its process hangs', async () => {
    const { sweeper, host } = measuring()
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS * (MISSED_PINGS + 1))
    expect(host().killed).toBe(true)
    expect(sweeper.last()?.end.error).toContain('did not answer')
  })

  it('is not disturbed by a message that is none', () => {
    const { sweeper, host, complaints } = measuring()
    host().say({ type: 'progress', progress: { phase: 'dreaming' } })
    expect(complaints).toEqual(['refused a message of the sweep process'])
    expect(sweeper.active()).toMatchObject({ progress: { done: 1 } })
  })
})

describe('closing the app', () => {
  it('waits until the bundle is closed', async () => {
    const { sweeper, host, engine, marked } = measuring()
    const down = sweeper.shutDown(5000)
    expect(host().received.at(-1)?.message).toEqual({ type: 'stop' })
    expect(host().killed).toBe(false)
    host().say({ type: 'ended', end: END })
    await down
    expect([host().killed, engine().killed]).toEqual([true, true])
    expect(sweeper.last()?.end).toEqual(END)
    expect(marked).toEqual([])
  })

  it('does not wait for ever, and marks what was not closed', async () => {
    const { sweeper, host, marked } = measuring()
    const down = sweeper.shutDown(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await down
    expect(host().killed).toBe(true)
    expect(marked).toEqual([[BUNDLE, 'The app was closed before the sweep had ended.']])
  })
})
