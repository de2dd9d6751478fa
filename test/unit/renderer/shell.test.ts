import { beforeEach, describe, expect, test } from 'vitest'
import type { DesktopState } from '../../../app/protocol/desktop.ts'
import type { Progress, RunInfo } from '../../../app/protocol/store.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { fieldTakes } from '../../../renderer/controls/field-keys.ts'
import { keyText, matches, stroke } from '../../../renderer/shell/keys.ts'
import { runRows } from '../../../renderer/shell/run-rows.ts'
import { shownStep } from '../../../renderer/shell/scrub.ts'
import { sweepRows } from '../../../renderer/shell/sweep-rows.ts'
import { stepRows } from '../../../renderer/shell/use-step-rows.ts'
import { presetDraft } from '../../../renderer/state/form.ts'
import { tell, useMessages } from '../../../renderer/state/messages.ts'
import { endText, runStateOf } from '../../../renderer/state/run-state.ts'
import { NO_SELECTION, useSelection } from '../../../renderer/state/selection.ts'
import { resolvedTheme } from '../../../renderer/theme/use-theme.ts'
import { figuresOf } from '../../../renderer/views/run/figures.ts'
import { desktopState as desktop } from './desktop-state.ts'
import { runInfo } from './run-info.ts'

const pressed = (code: string, held: Partial<Parameters<typeof matches>[0]> = {}) => ({
  code,
  key: '',
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...held,
})

describe('the selection', () => {
  beforeEach(() => useSelection.getState().clear())

  test('takes parts over the present ones, and null lets one go', () => {
    useSelection.getState().select({ step: 3, rank: 1 })
    useSelection.getState().select({ rank: null, head: 7 })
    expect(useSelection.getState()).toMatchObject({ ...NO_SELECTION, step: 3, head: 7 })
    useSelection.getState().clear()
    expect(useSelection.getState()).toMatchObject(NO_SELECTION)
  })
})

describe('keys', () => {
  test('are left to fields, but a slider takes only those that move it', () => {
    const field = (type: string) => ({ tagName: 'INPUT', type, isContentEditable: false })
    expect(['Digit2', 'ArrowLeft'].map((code) => fieldTakes(field('text'), code))).toEqual([true, true])
    expect(
      ['Digit2', 'BracketLeft', 'ArrowLeft', 'Home'].map((code) => fieldTakes(field('range'), code)),
    ).toEqual([false, false, true, true])
    expect(fieldTakes({ tagName: 'BUTTON', isContentEditable: false }, 'Digit2')).toBe(false)
  })

  test('are matched by place and by what is held', () => {
    expect(matches(pressed('KeyZ', { ctrlKey: true }), stroke('KeyZ', { ctrl: true }))).toBe(true)
    expect(matches(pressed('KeyZ', { metaKey: true }), stroke('KeyZ', { ctrl: true }))).toBe(true)
    expect(matches(pressed('KeyZ'), stroke('KeyZ', { ctrl: true }))).toBe(false)
    expect(matches(pressed('KeyZ', { ctrlKey: true, shiftKey: true }), stroke('KeyZ', { ctrl: true }))).toBe(
      false,
    )
    expect(matches(pressed('KeyI', { altKey: true }), stroke('KeyI'))).toBe(false)
  })

  test('give help for ? wherever the layout has it', () => {
    const help = stroke('Slash', { shift: true })
    expect(matches(pressed('Slash', { shiftKey: true, key: '?' }), help)).toBe(true)
    expect(matches(pressed('Minus', { shiftKey: true, key: '?' }), help)).toBe(true)
    expect(matches(pressed('Slash', { key: '/' }), help)).toBe(false)
  })

  test('are written as on the keyboard', () => {
    expect(keyText(stroke('KeyZ', { ctrl: true, shift: true }))).toBe('Ctrl+Shift+Z')
    expect(keyText(stroke('Slash', { shift: true }))).toBe('?')
    expect(keyText(stroke('Digit1'))).toBe('1')
  })
})

test('the scrubber shows the newest step until one is selected, and never one that is not there', () => {
  expect(shownStep(null, 0)).toBeNull()
  expect(shownStep(null, 10)).toBe(9)
  expect(shownStep(3, 10)).toBe(3)
  expect(shownStep(30, 10)).toBe(9)
})

test('the theme follows the system unless one was chosen', () => {
  expect(resolvedTheme('system', 'standard', true)).toBe('dark')
  expect(resolvedTheme('system', 'standard', false)).toBe('light')
  expect(resolvedTheme('light', 'standard', true)).toBe('light')
})

describe('messages', () => {
  beforeEach(() => useMessages.getState().clear())

  test('are kept in order, and the same sentence within moments is said once', () => {
    const { add } = useMessages.getState()
    add('info', 'one', 0)
    add('info', 'one', 1000)
    add('error', 'two', 1500)
    add('info', 'one', 5000)
    expect(useMessages.getState().messages.map(({ text }) => text)).toEqual(['one', 'two', 'one'])
    expect(new Set(useMessages.getState().messages.map(({ id }) => id)).size).toBe(3)
  })

  test('are bounded', () => {
    for (let i = 0; i < 500; i++) tell('info', `message ${i}`)
    expect(useMessages.getState().messages).toHaveLength(200)
    expect(useMessages.getState().messages.at(-1)?.text).toBe('message 499')
  })
})

const openRun = (status: RunInfo['manifest']['status']): RunInfo =>
  runInfo('a', { steps: 5, spanCount: 0, manifest: { status, config: presetDraft('tiny') } })

const progress: Progress = {
  id: 'a',
  status: 'running',
  steps: 7,
  totalSteps: 24,
  tokensPerSecond: 12,
  lastStepMs: 3,
  provenance: 'measured',
  maxRelErr: 1e-3,
  checkedRows: 9,
  endNs: 1,
  events: 0,
  dropped: 0,
}

describe('the state of the open run', () => {
  test('is what main says while main runs it', () => {
    const active = { ...desktop, activeRun: { id: 'a', phase: 'paused', fraction: 0.5 } } as const
    expect(runStateOf({ desktop: active, openId: 'a', openRun: openRun('running'), progress })).toMatchObject(
      {
        phase: 'paused',
        active: true,
      },
    )
  })

  test('is how it ended, before the bundle says so too', () => {
    const ended: DesktopState = {
      ...desktop,
      lastRun: { id: 'a', status: 'interrupted', error: 'The engine died.' },
    }
    expect(runStateOf({ desktop: ended, openId: 'a', openRun: openRun('running'), progress })).toMatchObject({
      phase: 'interrupted',
      error: 'The engine died.',
      active: false,
    })
  })

  test('is that of the bundle for a run of another day, whatever runs now', () => {
    const other = { ...desktop, activeRun: { id: 'b', phase: 'running', fraction: 0 } } as const
    expect(
      runStateOf({ desktop: other, openId: 'a', openRun: openRun('stopped'), progress: null }),
    ).toMatchObject({ phase: 'stopped', active: false })
    expect(runStateOf({ desktop: other, openId: null, openRun: null, progress: null })).toBeNull()
  })

  test('is the one that the inspector names', () => {
    expect(runRows(openRun('running'), 'paused')).toContainEqual({ label: 'status', value: 'paused' })
  })

  test('says of a sparse run, and of one that reads more than attention, how much', () => {
    const tiny = openRun('complete')
    const { config } = tiny.manifest
    const labels = (info: RunInfo): string[] => runRows(info, 'complete').map(({ label }) => label)
    expect(labels(tiny)).not.toContain('top-k')
    expect(labels(tiny)).not.toContain('rest of layer')
    const more = {
      ...config,
      workload: { ...config.workload, topk: 64 },
      engine: { ...config.engine, restOfLayer: 2 ** 20 },
    }
    const rows = runRows({ ...tiny, manifest: { ...tiny.manifest, config: more } }, 'complete')
    expect(rows).toContainEqual({ label: 'top-k', value: '64', copy: '64', note: 'keys' })
    expect(rows.find(({ label }) => label === 'rest of layer')).toMatchObject({
      copy: '1048576',
      note: 'a rank',
    })
  })

  test('says of a run with a draft which, at which layer, and how many of its tokens were accepted', () => {
    const { manifest, ...plain } = openRun('complete')
    const serving = { ...manifest.config.serving, draft: 'EAGLE3' }
    const summary = {
      device: 'cpu',
      backend: 'native',
      ranks: 4,
      steps: 8,
      tokensPerSecond: 1,
      provenance: 'measured' as const,
      stepMs: { p50: 1, p95: 1 },
      stages: {},
      check: {
        checkedRows: 1,
        maxAbsErr: 0,
        maxRelErr: 0,
        nanRows: 0,
        emptyRows: 0,
        tolerance: 0.01,
        ok: true,
      },
      draft: { proposed: 64, accepted: 63, tolerance: 0.01 },
      dropped: 0,
    }
    const drafted = { ...plain, manifest: { ...manifest, config: { ...manifest.config, serving }, summary } }
    const rows = runRows(drafted, 'complete')
    expect(rows).toContainEqual({ label: 'draft', value: 'EAGLE3', note: 'layer 4' })
    expect(rows).toContainEqual({
      label: 'draft accepted',
      value: '63 of 64 tokens',
      copy: '63 of 64',
      note: 'proxy',
    })
    expect(figuresOf(drafted, null, null).draft).toMatchObject({ proposed: 64, accepted: 63 })
    expect(figuresOf(openRun('running'), null, null).draft).toBeNull()
  })

  test('every end is said in a sentence that tells what was kept', () => {
    expect(endText('interrupted', 'The engine died.')).toBe(
      'The run was interrupted. The engine died. What was written up to then is kept.',
    )
    expect(endText('failed', undefined)).toContain('kept')
    expect(endText('failed', 'needs 60 TiB, available 20 GiB', false)).toBe(
      'The run did not start. Needs 60 TiB, available 20 GiB. Nothing was written.',
    )
    expect(endText('failed', 'The disk is full.', null)).toBe('The run failed. The disk is full.')
  })
})

describe('the figures of a run', () => {
  test('are the live ones while it goes on', () => {
    expect(figuresOf(openRun('running'), progress, null)).toMatchObject({
      steps: 7,
      totalSteps: 24,
      tokensPerSecond: 12,
      stepKind: 'last',
      checkOk: null,
    })
  })

  test('are the rows of a bundle that has no summary', () => {
    const totals = { columns: [], rows: [[5, 100, 2, null, 0, 'measured']], truncated: false }
    expect(figuresOf(openRun('interrupted'), null, totals)).toMatchObject({
      steps: 5,
      tokensPerSecond: 100,
      stepMs: 2,
      maxRelErr: null,
      source: undefined,
    })
  })
})

describe('the numbers of a step', () => {
  const steps = (maxRelErr: number) => ({
    step: Int32Array.of(12),
    startNs: Float64Array.of(1_500_000),
    wallNs: Float64Array.of(4_700_000),
    deviceNs: Float64Array.of(4_700_000),
    untracedNs: Float64Array.of(Number.NaN),
    tokensPerSecond: Float64Array.of(851),
    maxRelErr: Float64Array.of(maxRelErr),
    checkedRows: Int32Array.of(1376),
    draftProposed: Int32Array.of(-1),
    draftAccepted: Int32Array.of(-1),
    graphReplayed: Uint8Array.of(0),
    kernelTrace: Uint8Array.of(0),
    provenance: Uint8Array.of(0),
  })

  test('are copied exactly', () => {
    const rows = stepRows(steps(0.00308), 12, {})
    expect(rows).toContainEqual({ label: 'duration', value: '4.70\u2009ms', copy: '4700000' })
    expect(rows).toContainEqual({ label: 'largest error', value: '3.08e\u22123', copy: '0.00308' })
  })

  test('name what became of the tokens of a draft, as a proxy, and nothing without one', () => {
    const labels = (rows: ReturnType<typeof stepRows>): string[] => rows.map(({ label }) => label)
    expect(labels(stepRows(steps(0), 12, {}))).not.toContain('draft accepted')
    const drafted = { ...steps(0), draftProposed: Int32Array.of(1200), draftAccepted: Int32Array.of(7) }
    expect(stepRows(drafted, 12, {})).toContainEqual({
      label: 'draft accepted',
      value: '7 of 1\u2009200 tokens',
      copy: '7 of 1200',
      note: 'proxy',
    })
  })

  test('name no error where nothing was checked', () => {
    expect(stepRows(steps(Number.NaN), 12, {}).map(({ label }) => label)).not.toContain('largest error')
  })

  test('are none of a step that was not traced', () => {
    expect(stepRows(steps(0), 11, {})).toEqual([])
  })
})

test('the inspector tells a sweep by its lists, and not by the run that they stand over', () => {
  const parsed = parseSweepConfig({ context: [1024, 4096], kvDtype: ['bf16', 'fp8'] }, 'tiny')
  if (!parsed.ok) throw new Error('the sweep is refused')
  const rates = { attention: {}, stages: {}, between: {}, shared: true }
  const sweep = { config: parsed.config, device: 'cpu' as const, memoryBytes: 1e9, rates, missing: [] }
  const plain = openRun('stopped')
  const rows = sweepRows({ ...plain, manifest: { ...plain.manifest, sweep } }, 'stopped')
  expect(rows).toContainEqual({ label: 'status', value: 'stopped' })
  expect(rows).toContainEqual({
    label: 'context',
    value: '1\u2009024, 4\u2009096',
    copy: '1024, 4096',
    note: 'tokens',
  })
  expect(rows).toContainEqual({ label: 'kv type', value: 'bf16, fp8', copy: 'bf16, fp8' })
  for (const label of ['requests', 'traced time', 'interleave'])
    expect(rows.map((row) => row.label)).not.toContain(label)
  expect(sweepRows(plain, 'stopped')).toEqual([])
})

test('docs/keys.md lists the keys that the window has', async () => {
  const { keysPage } = await import('../../../renderer/shell/keys-text.ts')
  await expect(keysPage()).toMatchFileSnapshot('../../../docs/keys.md')
})
