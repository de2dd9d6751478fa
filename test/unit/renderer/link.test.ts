import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { RunInfo, RunRef } from '../../../app/protocol/store.ts'
import { FIELDS, type Link, linkedRun, linkText, parseLink } from '../../../renderer/state/link.ts'
import { NO_SELECTION, useSelection } from '../../../renderer/state/selection.ts'
import { VIEW_IDS } from '../../../renderer/state/view.ts'
import { runInfo } from './run-info.ts'

const { request } = vi.hoisted(() => ({ request: vi.fn() }))
vi.mock('../../../renderer/state/store-client.ts', () => ({ request }))
const { followLink, followWaitingLinks, linkNow, selectionWithin } = await import(
  '../../../renderer/state/follow-link.ts'
)
const { useMessages } = await import('../../../renderer/state/messages.ts')
const { placeNow } = await import('../../../renderer/state/place.ts')
const { useSession } = await import('../../../renderer/state/session.ts')
const { useView } = await import('../../../renderer/state/view.ts')

const ID = '0123456789abcdef01234567'
const OTHER = 'fedcba9876543210fedcba98'
const MADE = '2026-11-30T09:12:13.123Z'
const RUN = `run=${ID}&name=tiny&made=${encodeURIComponent(MADE)}`

const whyNot = (text: string): string => {
  const parsed = parseLink(text)
  return parsed.ok ? '' : parsed.why
}

describe('a link', () => {
  it('says a place in words that a person can read', () => {
    expect(
      linkText({
        view: 'timeline',
        run: linkedRun(ID, 'tiny run', MADE),
        dump: null,
        other: null,
        selection: { ...NO_SELECTION, step: 3, qIndex: 0, timeNs: 1234 },
        zoom: [1000.4, 2000],
      }),
    ).toBe(
      `dcpscope://open?view=timeline&run=${ID}&name=tiny+run&made=2026-11-30T09%3A12%3A13.123Z&step=3&query=0&at=1234&from=1000&to=2000`,
    )
  })

  it('is read as what was written, whatever the place', () => {
    const count = fc.option(fc.integer({ min: 0, max: 1e15 - 1 }), { nil: null })
    const link = fc.record({
      view: fc.constantFrom(...VIEW_IDS),
      run: fc.option(
        fc.record({
          id: fc.constant(ID),
          name: fc.string({ unit: 'binary', maxLength: 300 }),
          made: fc.constant(MADE),
        }),
        { nil: null },
      ),
      dump: fc.option(fc.constant(`dump-${ID}`), { nil: null }),
      other: fc.option(fc.constantFrom(ID, `dump-${OTHER}`), { nil: null }),
      selection: fc.record(
        Object.fromEntries(Object.keys(NO_SELECTION).map((key) => [key, count])) as Record<
          keyof typeof NO_SELECTION,
          typeof count
        >,
      ),
      zoom: fc.option(fc.constant([-5, 7] as const), { nil: null }),
    })
    fc.assert(
      fc.property(link, (given) => {
        const run = given.run === null ? null : linkedRun(given.run.id, given.run.name, given.run.made)
        const whole: Link = { ...given, run }
        expect(parseLink(linkText(whole))).toEqual({ ok: true, link: whole })
      }),
    )
  })

  it('may have the slash that systems add', () => {
    expect(parseLink('dcpscope://open/?view=merge')).toMatchObject({ ok: true, link: { view: 'merge' } })
  })

  it.each([
    ['https://example.org/?view=merge', 'it is no link to a place in dcpscope'],
    ['dcpscope://open?view=merge\n&step=1', 'it is no link to a place in dcpscope'],
    ['dcpscope://run?view=merge', 'it is no link to a place in dcpscope'],
    ['dcpscope://open/../etc?view=merge', 'it is no link to a place in dcpscope'],
    ['dcpscope://open?step=1', 'it names no view that is known here'],
    ['dcpscope://open?view=constructor', 'it names no view that is known here'],
    ['dcpscope://open?view=merge&path=/etc/passwd', 'it has a field that is not known here'],
    ['dcpscope://open?view=merge&__proto__=1', 'it has a field that is not known here'],
    ['dcpscope://open?view=merge&step=1&step=2', 'it says step twice'],
    ['dcpscope://open?view=merge&step=-1', 'its step is not valid'],
    ['dcpscope://open?view=merge&step=1e3', 'its step is not valid'],
    ['dcpscope://open?view=merge&step=', 'its step is not valid'],
    ['dcpscope://open?view=merge&rank=99999999999999999999', 'its rank is not valid'],
    ['dcpscope://open?view=merge&run=../../x&name=a&made=b', 'its run is not valid'],
    [`dcpscope://open?view=merge&run=${ID}`, 'its name is missing'],
    [`dcpscope://open?view=merge&${RUN}%0Ax`, 'its made is not valid'],
    ['dcpscope://open?view=merge&dump=%2Fetc%2Fpasswd', 'its dump is not valid'],
    ['dcpscope://open?view=compare&with=/etc/passwd', 'its with is not valid'],
    ['dcpscope://open?view=timeline&from=5', 'its to is missing'],
    ['dcpscope://open?view=timeline&from=5&to=5', 'what it shows ends before it begins'],
    [`dcpscope://open?view=merge&name=${'x'.repeat(5000)}`, 'it is longer than 4000 characters'],
  ])('that is not one is refused with the reason: %s', (text, why) => {
    expect(whyNot(text)).toBe(why)
  })

  it('has the fields that docs/links.md lists', () => {
    const page = readFileSync(join(__dirname, '../../../docs/links.md'), 'utf8')
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    const listed = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
    )
    expect(listed.sort()).toEqual([...FIELDS].sort())
  })

  it('never makes reading fail, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof parseLink(text).ok).toBe('boolean')
        expect(typeof parseLink(`dcpscope://open?${text}`).ok).toBe('boolean')
      }),
    )
  })
})

const infoOf = (id: string): RunInfo => runInfo(id, { manifest: { name: 'tiny', createdAt: MADE } })

/** A store that lists runs and knows those that were opened. */
const storeOf = (listed: readonly string[], known: readonly string[]): void => {
  const runs: RunRef[] = listed.map((id) => ({
    id,
    name: 'tiny',
    createdAt: MADE,
    status: 'complete',
    title: '',
  }))
  request.mockImplementation(async (method: string, { run }: { run?: string }) => {
    if (method === 'listRuns') return runs
    if (run === undefined || ![...listed, ...known].includes(run)) throw new Error('no such run')
    return infoOf(run)
  })
}

const said = () => useMessages.getState().messages.at(-1)

followWaitingLinks()

describe('following a link', () => {
  beforeEach(() => {
    useSession.getState().leaveRun()
    useView.getState().show('run')
    useMessages.getState().clear()
  })

  it('opens the run, shows the view and selects what it says', async () => {
    storeOf([ID], [])
    await followLink(`dcpscope://open?view=merge&${RUN}&step=5&head=2`)
    expect(placeNow()).toMatchObject({
      run: ID,
      view: 'merge',
      selection: { ...NO_SELECTION, step: 5, head: 2 },
    })
    await vi.waitFor(() => expect(useSession.getState().openRun?.id).toBe(ID))
    const made = linkNow()
    useSelection.getState().clear()
    useView.getState().show('run')
    await followLink(made)
    expect(placeNow()).toMatchObject({ run: ID, view: 'merge', selection: { step: 5, head: 2 } })
  })

  it('goes to a comparison, and says what of it is not known here', async () => {
    storeOf([ID, OTHER], [])
    await followLink(`dcpscope://open?view=compare&${RUN}&with=${OTHER}`)
    expect(placeNow()).toMatchObject({ run: ID, view: 'compare', other: OTHER })
    expect(linkNow()).toContain(`with=${OTHER}`)
    useView.getState().show('merge')
    expect(placeNow().other).toBeNull()
    storeOf([ID], [])
    await followLink(`dcpscope://open?view=compare&${RUN}&with=${'0'.repeat(24)}`)
    expect(placeNow()).toMatchObject({ run: ID, view: 'compare' })
    expect(useMessages.getState().messages.map(({ text }) => text)).toContain(
      'What the link compares with is not known here: it was not opened on this machine. Open it, and choose it as B.',
    )
  })

  it('opens a run that was opened from elsewhere, and one that is the same under another id', async () => {
    storeOf([], [ID])
    await followLink(`dcpscope://open?view=merge&${RUN}`)
    expect(placeNow().run).toBe(ID)
    useSession.getState().leaveRun()
    storeOf([OTHER], [])
    await followLink(`dcpscope://open?view=ownership&${RUN}`)
    expect(placeNow()).toMatchObject({ run: OTHER, view: 'ownership' })
  })

  it('waits for a run that is not known, and changes nothing until it is opened', async () => {
    storeOf([], [])
    const before = placeNow()
    await followLink(`dcpscope://open?view=merge&${RUN}&step=7`)
    expect(placeNow()).toEqual(before)
    expect(said()).toMatchObject({
      level: 'warning',
      text: expect.stringContaining('the run tiny, which is not known'),
    })
    storeOf([], [OTHER])
    await useSession.getState().openRunById(OTHER)
    await vi.waitFor(() =>
      expect(placeNow()).toMatchObject({ run: OTHER, view: 'merge', selection: { step: 7 } }),
    )
  })

  it('goes on in the open run where that is the same, though no list has it', async () => {
    storeOf([], [OTHER])
    await useSession.getState().openRunById(OTHER)
    await followLink(`dcpscope://open?view=merge&${RUN}&step=7`)
    expect(placeNow()).toMatchObject({ run: OTHER, view: 'merge', selection: { step: 7 } })
  })

  it('leaves out what the run does not have, and says so', async () => {
    storeOf([ID], [])
    await followLink(`dcpscope://open?view=merge&${RUN}&step=24&rank=3&layer=999`)
    expect(placeNow().selection).toEqual({ ...NO_SELECTION, rank: 3 })
    expect(
      useMessages
        .getState()
        .messages.map(({ text }) => text)
        .join(),
    ).toContain('step 24, layer 999')
    const live = { ...infoOf(ID), manifest: { ...infoOf(ID).manifest, status: 'running' as const } }
    expect(selectionWithin({ ...NO_SELECTION, step: 24 }, live).lacking).toEqual([])
  })

  it('is about what is open where it names no run', async () => {
    storeOf([ID], [])
    await useSession.getState().openRunById(ID)
    await followLink('dcpscope://open?view=ownership&token=9')
    expect(placeNow()).toMatchObject({ run: ID, view: 'ownership', selection: { token: 9 } })
  })

  it.each([
    [
      'dcpscope://open?view=merge&path=%2Fetc',
      'The link was not followed: it has a field that is not known here.',
    ],
    [
      `dcpscope://open?view=postmortem&dump=dump-${ID}`,
      'The link is to a tensor dump that was not opened here.',
    ],
  ])('does nothing but say why it cannot: %s', async (text, why) => {
    const before = placeNow()
    await followLink(text)
    expect(placeNow()).toEqual(before)
    expect(said()?.text).toContain(why)
  })

  it('says what keeps a listed run from being read', async () => {
    storeOf([ID], [])
    const answer = request.getMockImplementation()
    request.mockImplementation((method: string, params: object) =>
      method === 'runInfo' ? Promise.reject(new Error('a part is damaged')) : answer?.(method, params),
    )
    await followLink(`dcpscope://open?view=merge&${RUN}`)
    expect(said()?.text).toBe('The link was not followed: a part is damaged')
  })
})
