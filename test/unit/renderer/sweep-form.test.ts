import { beforeEach, describe, expect, it } from 'vitest'
import type { DesktopState } from '../../../app/protocol/desktop.ts'
import type { SweepEnd } from '../../../app/protocol/sweep.ts'
import { isRecord } from '../../../app/run/parse.ts'
import { sweepConfigSchema } from '../../../app/sweep/config.ts'
import { belongs } from '../../../renderer/controls/form/issues.ts'
import { valueAt } from '../../../renderer/state/config-path.ts'
import { presetDraft } from '../../../renderer/state/form.ts'
import { useSession } from '../../../renderer/state/session.ts'
import { whyNotMeasure, whyNotStart } from '../../../renderer/state/start.ts'
import { filledSweep, judgeSweep, showsSweepForm, useSweepForm } from '../../../renderer/state/sweep-form.ts'
import { shortProgress, sweepEndLevel, sweepEndText } from '../../../renderer/state/sweep-state.ts'
import { measureState } from '../../../renderer/views/throughput/measure-state.ts'
import type { Progress } from '../../../renderer/views/throughput/model.ts'
import { SWEEP_FORM } from '../../../renderer/views/throughput/sweep-schema.ts'
import { desktopState } from './desktop-state.ts'

const form = () => useSweepForm.getState()

beforeEach(() => {
  form().loadPreset('tiny')
  form().hide()
})

describe('the form of a sweep', () => {
  it('begins with the small sweep, which can be measured', () => {
    expect(form().issues).toEqual([])
    expect(form().config?.context).toEqual([256, 1024, 4096])
  })

  it('has a control for every field of a sweep, and for what its base may say', () => {
    const keys = SWEEP_FORM.filter(({ path }) => path === '').flatMap(({ fields }) =>
      fields.map(({ key }) => key),
    )
    const rest = SWEEP_FORM.filter(({ path }) => path !== '').map(({ path }) => path)
    const wanted = Object.keys(sweepConfigSchema.shape).filter((key) => key !== 'base')
    expect([...keys, ...rest.filter((path) => !path.startsWith('base.'))].sort()).toEqual(wanted.sort())
    expect(rest).toContain('base.model')
    for (const absent of ['base.check', 'base.capture', 'base.faults', 'base.serving'])
      expect(rest).not.toContain(absent)
    const workload = SWEEP_FORM.find(({ path }) => path === 'base.workload')
    expect(workload?.fields.map(({ key }) => key)).not.toContain('steps')
    const mode = SWEEP_FORM[0]?.fields.find(({ key }) => key === 'mode')
    expect(mode?.control).toEqual({ kind: 'words', options: ['tp', 'dcp'] })
  })

  it('leads from every issue to the section of its field', () => {
    const sectionOf = (path: string) => SWEEP_FORM.find((section) => belongs(path, section))?.key
    expect(sectionOf('context[1]')).toBe('points')
    expect(sectionOf('repeats')).toBe('measurement')
    expect(sectionOf('base.model.heads')).toBe('base.model')
    expect(sectionOf('memory.bytes')).toBe('memory')
  })

  it('marks a wrong field with its rule, and has no configuration until it is corrected', () => {
    form().set('dcp', [2, 2])
    expect(form().issues).toEqual([{ path: 'dcp', message: 'must name every value once, got 2 twice' }])
    expect(form().config).toBeNull()
    form().undo()
    expect(form().config?.dcp).toEqual([2, 4])
  })

  it('takes the run of the other form as its base, with its types in the lists', () => {
    const run = presetDraft('deepseek-v2-lite')
    form().takeRun({ ...run, cache: { ...run.cache, kvDtype: 'fp8' } })
    expect(form().issues).toEqual([])
    expect(form().config?.base.model.preset).toBe('deepseek-v2-lite')
    expect(form().config).toMatchObject({
      kvDtype: ['fp8'],
      qLen: [run.workload.qLen],
      context: [256, 1024, 4096],
    })
  })

  it('fills what is pasted with its defaults, and takes a wrong one as it is', () => {
    const filled = filledSweep({ context: [64] })
    expect(filled).toMatchObject({ context: [64], repeats: 3, base: { model: {} } })
    expect(isRecord(filled) && valueAt(filled, 'base.workload.steps')).toBeUndefined()
    expect(judgeSweep(filled).issues).toEqual([])
    const wrong = { contexts: [64] }
    expect(filledSweep(wrong)).toBe(wrong)
    expect(judgeSweep(wrong).issues.map(({ path }) => path)).toEqual(['contexts'])
  })

  it('stands over what was open, and not over what is opened then', () => {
    form().show()
    expect(showsSweepForm()).toBe(true)
    useSession.setState({ openId: 'other' })
    expect(showsSweepForm()).toBe(false)
    useSession.setState({ openId: null })
    expect(showsSweepForm()).toBe(true)
  })
})

const PROGRESS = {
  phase: 'measuring' as const,
  done: 5,
  total: 30,
  key: 'tp-c1',
  repeat: 1,
  repeats: 3,
  failed: 0,
  secondsLeft: 60,
}
const ACTIVE = { run: 'r', name: 'mine', kept: true, pausing: false, progress: PROGRESS }

describe('a sweep that is measured', () => {
  const measuring: DesktopState = { ...desktopState, activeSweep: ACTIVE }

  it('keeps runs and other sweeps from starting, as a run keeps sweeps', () => {
    expect(whyNotStart(measuring, 0)).toContain('A sweep is being measured')
    expect(whyNotMeasure(measuring)).toContain('A sweep is being measured')
    const running: DesktopState = { ...desktopState, activeRun: { id: 'x', phase: 'running', fraction: 0 } }
    expect(whyNotMeasure(running)).toContain('A run is in progress')
    expect(whyNotMeasure(desktopState)).toBeNull()
  })

  it('says how far it is in a few words', () => {
    expect(shortProgress(ACTIVE)).toBe('5 of 30 points, 60 s left')
    expect(shortProgress({ ...ACTIVE, progress: null })).toBe('starting')
    expect(shortProgress({ ...ACTIVE, progress: { phase: 'calibrating', done: 0, total: 9 } })).toBe(
      'rates of the device, 1 of 9',
    )
    expect(shortProgress({ ...ACTIVE, pausing: true })).toBe('closing its bundle')
  })

  it('can be paused once, and shows the point, its repeat and what failed', () => {
    const state = measureState('r', null, measuring, null)
    expect(state).toMatchObject({
      word: 'measuring',
      done: 5,
      total: 30,
      action: { kind: 'pause', barred: null },
    })
    expect(state.words).toContain('tp-c1, repeat 2 of 3')
    const failing = { ...ACTIVE, pausing: true, progress: { ...PROGRESS, failed: 2 } }
    const paused = measureState('r', null, { ...desktopState, activeSweep: failing }, null)
    expect(paused.words[0]).toBe('2 failed')
    expect(paused.action?.barred).not.toBeNull()
  })
})

describe('a sweep that nobody measures', () => {
  const known = {
    points: 9,
    measured: 6,
    missing: [{ key: 'a', why: 'failed', reason: 'r' }],
  } as unknown as Progress
  const manifest = (status: string, ranks = 'threads'): never =>
    ({ status, sweep: { missing: known.missing, config: { base: { engine: { ranks } } } } }) as never

  it('can be resumed, with how much is left and why', () => {
    const state = measureState('r', manifest('stopped'), desktopState, known)
    expect(state).toMatchObject({
      word: 'paused',
      done: 6,
      total: 9,
      action: { kind: 'resume', barred: null },
    })
    expect(state.words).toEqual(['3 points left', 'the engine failed in 1'])
    const other = measureState(
      'r',
      manifest('complete'),
      { ...desktopState, activeSweep: { ...ACTIVE, run: 'x' } },
      known,
    )
    expect(other.action?.barred).toContain('A sweep is being measured')
  })

  it('is left to the command line where its ranks are processes, and to whoever measures it', () => {
    const processes = measureState('r', manifest('stopped', 'processes'), desktopState, known)
    expect(processes.action?.barred).toContain('command line')
    const others = measureState('r', manifest('running'), desktopState, known)
    expect(others).toMatchObject({ word: 'measuring', action: null })
    expect(others.words[0]).toBe('by another process')
  })
})

describe('the end of a sweep', () => {
  const told = (end: Partial<SweepEnd>) => {
    const last = {
      seq: 1,
      run: 'r',
      name: 'mine',
      end: { status: 'stopped' as const, kept: true, points: 9, measured: 6, failed: 0, ...end },
    }
    return [sweepEndLevel(last), sweepEndText(last)]
  }

  it('says what happened, what was kept and what to do', () => {
    expect(told({})).toEqual([
      'info',
      'The sweep mine is paused: 6 of 9 points are measured and kept. Resume goes on.',
    ])
    expect(told({ status: 'complete', measured: 9 })).toEqual([
      'info',
      'The sweep mine is complete: 9 points are measured.',
    ])
    expect(told({ status: 'complete', failed: 1, error: 'the engine died' })).toEqual([
      'warning',
      'The sweep mine came to its end, but the engine failed in 1 point. The engine died. Resume tries again.',
    ])
    expect(told({ status: 'failed', error: 'the disk is full' })).toEqual([
      'error',
      'The sweep mine ended. The disk is full. 6 of 9 points are measured and kept. Resume goes on.',
    ])
    expect(told({ status: 'interrupted', error: 'The sweep process crashed.' })[1]).toContain(
      'Resume goes on.',
    )
    expect(told({ kept: false })[1]).toContain('nothing was written')
    expect(told({ status: 'failed', kept: false, error: 'no GPU' })[1]).toBe(
      'The sweep mine did not begin. No GPU. Nothing was written.',
    )
    expect(told({ status: 'failed', points: 0, measured: 0, error: 'another device' })[1]).toBe(
      'The sweep mine was not gone on with. Another device. What it has is kept.',
    )
  })
})
