import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { runInfo } from './run-info.ts'

const { request } = vi.hoisted(() => ({ request: vi.fn() }))
vi.mock('../../../renderer/state/store-client.ts', () => ({ request }))
const { useSession } = await import('../../../renderer/state/session.ts')
const { useView } = await import('../../../renderer/state/view.ts')
const { useMessages } = await import('../../../renderer/state/messages.ts')

const infoOf = (id: string, steps: number): RunInfo => runInfo(id, { steps, manifest: { status: 'running' } })

/** A question that the test answers when it likes. */
const question = () => {
  let answer: (info: RunInfo) => void = () => {}
  request.mockImplementationOnce(() => new Promise<RunInfo>((resolve) => (answer = resolve)))
  return (info: RunInfo): void => answer(info)
}

beforeEach(() => {
  useSession.getState().leaveRun()
})

describe('a sweep that is opened', () => {
  it('is shown where its points are, and left when a person goes elsewhere', async () => {
    const run = infoOf('sweep', 0)
    const parsed = parseSweepConfig({}, 'tiny')
    if (!parsed.ok) throw new Error('the preset is refused')
    const rates = { attention: {}, stages: {}, between: {}, shared: true }
    const sweep = { config: parsed.config, device: 'cpu' as const, memoryBytes: 1e9, rates, missing: [] }
    request.mockResolvedValue({ ...run, manifest: { ...run.manifest, sweep } })
    useView.getState().show('run')
    await useSession.getState().openRunById('sweep')
    expect(useView.getState().view).toBe('throughput')
    useView.getState().show('timeline')
    await useSession.getState().openRunById('sweep')
    expect(useView.getState().view).toBe('timeline')
  })

  it('is not what a run is', async () => {
    request.mockResolvedValue(infoOf('plain', 3))
    useView.getState().show('merge')
    await useSession.getState().openRunById('plain')
    expect(useView.getState().view).toBe('merge')
  })
})

describe('what is said', () => {
  const newest = () => useMessages.getState().messages.at(-1)

  it('is that a run was opened, after an error of the try before', async () => {
    request.mockRejectedValueOnce(new Error('not a dcpscope bundle'))
    await useSession.getState().openRunById('broken')
    expect(newest()).toMatchObject({ level: 'error' })
    request.mockResolvedValueOnce(infoOf('whole', 3))
    await useSession.getState().openRunById('whole')
    expect(newest()).toMatchObject({ level: 'info', text: 'Opened whole.' })
  })

  it('is nothing when the numbers of the open run are read again', async () => {
    request.mockResolvedValue(infoOf('r', 3))
    await useSession.getState().openRunById('r')
    useMessages.getState().clear()
    await useSession.getState().openRunById('r')
    expect(newest()).toBeUndefined()
  })
})

describe('the open run', () => {
  it('keeps the newest answer when an older one comes late', async () => {
    const first = question()
    const opening = useSession.getState().openRunById('r')
    const second = question()
    const again = useSession.getState().openRunById('r')
    second(infoOf('r', 24))
    await again
    first(infoOf('r', 3))
    await opening
    expect(useSession.getState().openRun?.steps).toBe(24)
  })

  it('is not replaced by an answer about a run that was left', async () => {
    const first = question()
    const opening = useSession.getState().openRunById('a')
    const second = question()
    const other = useSession.getState().openRunById('b')
    second(infoOf('b', 1))
    first(infoOf('a', 9))
    await Promise.all([opening, other])
    expect(useSession.getState().openRun?.id).toBe('b')
  })
})
