import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunInfo, RunRef } from '../../../app/protocol/store.ts'
import { runInfo } from './run-info.ts'

const { request } = vi.hoisted(() => ({ request: vi.fn() }))
vi.mock('../../../renderer/state/store-client.ts', () => ({ request }))
const { useDump } = await import('../../../renderer/state/dump.ts')
const { useMessages } = await import('../../../renderer/state/messages.ts')
const { nameOf, neighbour, useOpen } = await import('../../../renderer/state/open.ts')
const { NO_SELECTION, selectionNow, useSelection } = await import('../../../renderer/state/selection.ts')
const { shownId, useSession } = await import('../../../renderer/state/session.ts')
const { useView } = await import('../../../renderer/state/view.ts')

const infoOf = (id: string): RunInfo => runInfo(id, { manifest: { name: `run ${id}` } })

const refOf = (id: string): RunRef => ({
  id,
  name: `run ${id}`,
  createdAt: '',
  status: 'complete',
  title: '',
})

const openIds = (): string[] => useOpen.getState().items.map(({ id }) => id)
const session = () => useSession.getState()

beforeEach(() => {
  request.mockImplementation((method: string, params: { run: string }) =>
    Promise.resolve(method === 'listRuns' ? ['a', 'b', 'c'].map(refOf) : infoOf(params.run)),
  )
  for (const id of openIds()) session().closeItem(id)
  useMessages.getState().clear()
})

describe('several bundles', () => {
  it('that are opened together are all open, the first shown', async () => {
    await session().takeOpened({ ok: true, run: 'a', others: ['b', 'c'] })
    expect(openIds()).toEqual(['a', 'b', 'c'])
    expect(shownId()).toBe('a')
    const texts = useMessages.getState().messages.map(({ text }) => text)
    expect(texts).toContain('Opened 3 bundles; Ctrl+Tab goes from one to the next.')
  })

  it('of which one is refused say why, and show the others', async () => {
    await session().takeOpened({ ok: true, run: 'a', refused: ['x.dcp is no bundle.'] })
    expect(openIds()).toEqual(['a'])
    expect(useMessages.getState().messages[0]).toMatchObject({ level: 'error', text: 'x.dcp is no bundle.' })
  })

  it('keep what was selected of each', async () => {
    await session().openRunById('a')
    useSelection.getState().select({ step: 7, rank: 2 })
    await session().openRunById('b')
    expect(selectionNow()).toEqual(NO_SELECTION)
    useSelection.getState().select({ step: 1 })
    await session().openRunById('a')
    expect(selectionNow()).toEqual({ ...NO_SELECTION, step: 7, rank: 2 })
    session().showItem({ kind: 'run', id: 'b' })
    expect(selectionNow()).toEqual({ ...NO_SELECTION, step: 1 })
  })

  it('keep a selection of a dump apart from that of the run behind it', async () => {
    await session().openRunById('a')
    useSelection.getState().select({ step: 7 })
    session().showDump('dump-1')
    expect(selectionNow()).toEqual(NO_SELECTION)
    expect(useView.getState().view).toBe('postmortem')
    useSelection.getState().select({ head: 3 })
    session().showItem({ kind: 'run', id: 'a' })
    expect(selectionNow()).toEqual({ ...NO_SELECTION, step: 7 })
    expect(useDump.getState().dump).toBeNull()
    session().showItem({ kind: 'dump', id: 'dump-1' })
    expect(selectionNow()).toEqual({ ...NO_SELECTION, head: 3 })
  })

  it('are gone round by keys', async () => {
    await session().takeOpened({ ok: true, run: 'a', others: ['b', 'c'] })
    const round = [1, 1, 1, -1, -1].map((by) => {
      session().showNeighbour(by === 1 ? 1 : -1)
      return shownId()
    })
    expect(round).toEqual(['b', 'c', 'a', 'c', 'b'])
  })

  it('give way to their neighbour when they are closed, and forget what was selected', async () => {
    await session().takeOpened({ ok: true, run: 'a', others: ['b', 'c'] })
    session().showItem({ kind: 'run', id: 'b' })
    useSelection.getState().select({ step: 3 })
    session().closeItem('c')
    expect([openIds(), shownId()]).toEqual([['a', 'b'], 'b'])
    expect(selectionNow().step).toBe(3)
    session().closeItem('b')
    expect([openIds(), shownId()]).toEqual([['a'], 'a'])
    await session().openRunById('b')
    expect(selectionNow()).toEqual(NO_SELECTION)
    session().closeItem('b')
    session().closeItem('a')
    expect([openIds(), shownId(), session().openRun]).toEqual([[], null, null])
    expect(selectionNow()).toEqual(NO_SELECTION)
  })

  it('stay open while a person sets up a new run', async () => {
    await session().openRunById('a')
    useSelection.getState().select({ step: 3 })
    session().leaveRun()
    expect([openIds(), shownId()]).toEqual([['a'], null])
    session().showNeighbour(1)
    expect([shownId(), selectionNow().step]).toEqual(['a', 3])
  })
})

it('a neighbour is none where there is only one, and the first or last where none is shown', () => {
  const [a, b] = [
    { kind: 'run', id: 'a' },
    { kind: 'run', id: 'b' },
  ] as const
  expect(neighbour([a], 'a', 1)).toBeUndefined()
  expect(neighbour([], null, 1)).toBeUndefined()
  expect(neighbour([a, b], null, 1)).toBe(a)
  expect(neighbour([a, b], null, -1)).toBe(b)
})

it('what is open is called what its manifest or the list says', () => {
  const known = { runs: [refOf('a')], openRun: infoOf('z'), desktop: null }
  expect(nameOf({ kind: 'run', id: 'a' }, known)).toBe('run a')
  expect(nameOf({ kind: 'run', id: 'z' }, known)).toBe('run z')
  expect(nameOf({ kind: 'run', id: 'new' }, known)).toBe('New run')
  expect(nameOf({ kind: 'dump', id: 'dump-1' }, known)).toBe('Dump')
})
