import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { DesktopState } from '../../../app/protocol/desktop.ts'
import type { SweepEnd } from '../../../app/protocol/sweep.ts'
import { desktopState } from './desktop-state.ts'

const { request } = vi.hoisted(() => ({ request: vi.fn() }))
vi.mock('../../../renderer/state/store-client.ts', () => ({ request }))
const { useSession } = await import('../../../renderer/state/session.ts')
const { useOpen } = await import('../../../renderer/state/open.ts')
const { useMessages } = await import('../../../renderer/state/messages.ts')
const { followSweeps } = await import('../../../renderer/state/follow-sweeps.ts')

const ACTIVE = { run: 'r', name: 'mine', kept: false, pausing: false, progress: null }
const END: SweepEnd = { status: 'stopped', kept: true, points: 9, measured: 4, failed: 0 }

const active = (parts: Partial<NonNullable<DesktopState['activeSweep']>>): DesktopState => ({
  ...desktopState,
  activeSweep: { ...ACTIVE, ...parts },
})

const measuring = (failed: number): DesktopState =>
  active({
    kept: true,
    progress: {
      phase: 'measuring',
      done: 1,
      total: 9,
      key: 'tp',
      repeat: 0,
      repeats: 3,
      failed,
      ...(failed === 0 ? {} : { failure: 'tp: the engine died' }),
      secondsLeft: 60,
    },
  })

const over = (end: Partial<SweepEnd>): DesktopState => ({
  ...desktopState,
  lastSweep: { seq: 1, run: 'r', name: 'mine', end: { ...END, ...end } },
})

const asked = (): unknown[] => request.mock.calls.map(([method]) => method)
const said = (): string => useMessages.getState().messages.at(-1)?.text ?? ''

beforeEach(() => {
  request.mockReset().mockImplementation(async (method: string) => {
    if (method === 'listRuns') return []
    throw new Error('no such run')
  })
  useMessages.getState().clear()
  useOpen.setState({ items: [{ kind: 'run', id: 'r' }] })
  useSession.setState({ openId: 'r', openRun: null, desktop: active({}) })
})

describe('the window', () => {
  it('reads the bundle of its sweep when that begins and when it ends, once each', () => {
    followSweeps(active({}), active({ kept: true }))
    expect(asked()).toEqual(['listRuns', 'runInfo'])
    followSweeps(active({ kept: true }), measuring(0))
    expect(asked()).toHaveLength(2)
    followSweeps(measuring(0), over({}))
    expect(asked()).toEqual(['listRuns', 'runInfo', 'listRuns', 'runInfo'])
    expect(said()).toContain('is paused')
    followSweeps(over({}), over({}))
    expect(asked()).toHaveLength(4)
  })

  it('reads nothing of a sweep that is not shown but the list', () => {
    useSession.setState({ openId: 'other' })
    followSweeps(active({}), active({ kept: true }))
    expect(asked()).toEqual(['listRuns'])
  })

  it('puts away a sweep that ended before it wrote anything', () => {
    followSweeps(active({}), over({ kept: false }))
    expect(useSession.getState().openId).toBeNull()
    expect(useOpen.getState().items).toEqual([])
    expect(said()).toContain('nothing was written')
  })

  it('tells of every point that fails while the sweep goes on', () => {
    followSweeps(measuring(0), measuring(1))
    expect(said()).toBe(
      'The engine failed in a point of the sweep, which goes on with the next. tp: the engine died',
    )
    useMessages.getState().clear()
    followSweeps(measuring(1), measuring(1))
    expect(said()).toBe('')
  })

  it('finds the sweep in progress when its page is loaded again', () => {
    useSession.setState({ openId: null })
    followSweeps(null, measuring(0))
    expect(useSession.getState().openId).toBe('r')
  })
})
