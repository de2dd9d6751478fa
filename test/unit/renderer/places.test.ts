import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { runInfo } from './run-info.ts'

const { request } = vi.hoisted(() => ({ request: vi.fn() }))
vi.mock('../../../renderer/state/store-client.ts', () => ({ request }))
const { placeNow } = await import('../../../renderer/state/place.ts')
const { NO_SELECTION, useSelection } = await import('../../../renderer/state/selection.ts')
const { useSession } = await import('../../../renderer/state/session.ts')
const { followPlaces, ONE_MOVE_MS, stepped, useTrail, visited } = await import(
  '../../../renderer/state/trail.ts'
)
const { useView } = await import('../../../renderer/state/view.ts')
const { keepZoom } = await import('../../../renderer/state/zoom.ts')

type Place = ReturnType<typeof placeNow>
type Trail = Parameters<typeof visited>[0]

const at = (view: Place['view'], step: number | null, run: string | null = 'r'): Place => ({
  run,
  dump: null,
  other: null,
  view,
  selection: { ...NO_SELECTION, step },
  zoom: null,
})

const beginning = (now: Place): Trail => ({ past: [], now, future: [], movedAtMs: Number.NEGATIVE_INFINITY })

/** Comes to each place, `everyMs` apart. */
const walked = (trail: Trail, places: readonly Place[], everyMs: number): Trail =>
  places.reduce((so, place, i) => visited(so, place, null, 1000 + i * everyMs), trail)

const stepsOf = (places: readonly Place[]): (number | null)[] => places.map(({ selection }) => selection.step)

describe('the trail of places', () => {
  it('has one entry for a scrub over many steps, and goes back to before it', () => {
    const steps = Array.from({ length: 50 }, (_, step) => at('merge', step))
    const trail = walked(beginning(at('merge', null)), steps, 20)
    expect(stepsOf(trail.past)).toEqual([null])
    expect(trail.now.selection.step).toBe(49)
    expect(stepped(trail, 'back', null).now.selection.step).toBeNull()
  })

  it('has an entry for each move that a person rested at', () => {
    const trail = walked(beginning(at('merge', null)), [at('merge', 1), at('merge', 2)], ONE_MOVE_MS)
    expect(stepsOf(trail.past)).toEqual([null, 1])
  })

  it('never takes two views or two runs for one place, however fast they follow', () => {
    const trail = walked(
      beginning(at('run', null)),
      [at('timeline', null), at('merge', null), at('merge', null, 'other')],
      1,
    )
    expect(trail.past.map(({ view, run }) => `${view} ${run}`)).toEqual(['run r', 'timeline r', 'merge r'])
  })

  it('is left alone by what changes nothing', () => {
    const trail = beginning(at('merge', 3))
    expect(visited(trail, at('merge', 3), [1, 2], 5000)).toBe(trail)
  })

  it('keeps how the places were zoomed when they were left, both ways', () => {
    const trail = visited(beginning(at('timeline', 1)), at('merge', 1), [10, 20], 1000)
    const back = stepped(trail, 'back', null)
    expect(back.now.zoom).toEqual([10, 20])
    expect(stepped(back, 'forward', [30, 40])).toMatchObject({
      now: { view: 'merge' },
      past: [{ zoom: [30, 40] }],
      future: [],
    })
  })

  it('forgets what lay ahead once a person goes elsewhere', () => {
    const trail = walked(beginning(at('run', null)), [at('timeline', 1), at('merge', 1)], 1000)
    const back = stepped(stepped(trail, 'back', null), 'back', null)
    expect(back.future.map(({ view }) => view)).toEqual(['timeline', 'merge'])
    expect(visited(back, at('ownership', 1), null, 9000).future).toEqual([])
  })

  it('stays where it is at its ends, and is bounded', () => {
    const start = beginning(at('run', null))
    expect(stepped(start, 'back', null)).toBe(start)
    expect(stepped(start, 'forward', null)).toBe(start)
    const places = Array.from({ length: 500 }, (_, step) => at('merge', step))
    expect(walked(start, places, 1000).past).toHaveLength(100)
  })
})

const infoOf = (id: string): RunInfo => {
  const sweep = parseSweepConfig({}, 'tiny')
  if (!sweep.ok) throw new Error('the defaults are valid')
  if (id !== 'sweep') return runInfo(id)
  const measured = {
    config: sweep.config,
    device: 'cpu' as const,
    memoryBytes: 1e9,
    rates: { attention: {}, stages: {}, between: {}, shared: true },
    missing: [],
  }
  return runInfo(id, { manifest: { sweep: measured } })
}

followPlaces()

/** Lets what was changed be noted. */
const noted = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

describe('going back and forward', () => {
  beforeEach(async () => {
    request.mockImplementation((_method: string, { run }: { run: string }) => Promise.resolve(infoOf(run)))
    useSession.getState().leaveRun()
    useView.getState().show('run')
    await noted()
    useTrail.setState({ trail: beginning(placeNow()) })
  })

  it('takes view and selection that change together as one place', async () => {
    useSelection.getState().select({ step: 3, rank: 1 })
    useView.getState().show('merge')
    await noted()
    expect(useTrail.getState().trail.past).toHaveLength(1)
    useTrail.getState().go('back')
    expect(placeNow()).toMatchObject({ view: 'run', selection: NO_SELECTION })
    useTrail.getState().go('forward')
    expect(placeNow()).toMatchObject({ view: 'merge', selection: { ...NO_SELECTION, step: 3, rank: 1 } })
    await noted()
    expect(useTrail.getState().trail).toMatchObject({ past: [{ view: 'run' }], future: [] })
  })

  it('opens the run of a place with its selection, and no run where none was open', async () => {
    await useSession.getState().openRunById('a')
    useSelection.getState().select({ step: 5 })
    await noted()
    await useSession.getState().openRunById('b')
    await noted()
    useTrail.getState().go('back')
    await noted()
    expect(placeNow()).toMatchObject({ run: 'a', selection: { step: 5 } })
    expect(useSession.getState().openRun?.id).toBe('a')
    useTrail.getState().go('back')
    expect(placeNow().run).toBeNull()
    expect(useTrail.getState().trail.future).toHaveLength(2)
  })

  it('shows a sweep in the view in which it was left', async () => {
    await useSession.getState().openRunById('sweep')
    await noted()
    useView.getState().show('scenarios')
    await noted()
    useSession.getState().leaveRun()
    await noted()
    useTrail.getState().go('back')
    await noted()
    expect(placeNow()).toMatchObject({ run: 'sweep', view: 'scenarios' })
  })

  it('says nothing to those who follow it while nothing moves', async () => {
    let told = 0
    const stop = useTrail.subscribe(() => told++)
    useSession.getState().take({ error: 'something else' })
    await noted()
    expect(told).toBe(0)
    useSelection.getState().select({ step: 1 })
    await noted()
    expect(told).toBe(1)
    stop()
  })

  it('gives a view its zoom back', async () => {
    let shown: readonly [number, number] | null = [5, 6]
    keepZoom('ownership', {
      read: () => shown,
      show: (_run, zoom) => {
        shown = zoom
      },
    })
    useView.getState().show('ownership')
    await noted()
    useView.getState().show('merge')
    await noted()
    shown = null
    useTrail.getState().go('back')
    expect(shown).toEqual([5, 6])
  })
})
