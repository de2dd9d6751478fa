import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BACKEND_NAMES } from '../../../app/backends/index.ts'
import { PRESET_NAMES, runConfigSchema } from '../../../app/run/config.ts'
import { tokenBytes } from '../../../app/run/engine-config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { DEFAULT_SETTINGS } from '../../../app/settings/settings.ts'
import { type FormField, formOf } from '../../../renderer/controls/form/form-schema.ts'
import { parseDraft } from '../../../renderer/controls/form/import-config.ts'
import { issuesAt } from '../../../renderer/controls/form/issues.ts'
import { listOfText, stepped, textOfList, valueOfText } from '../../../renderer/controls/form/number-text.ts'
import { unitText } from '../../../renderer/controls/form/unit-text.ts'
import { pathOf, pathParts, valueAt, within, withValueAt } from '../../../renderer/state/config-path.ts'
import { filled, judge, presetDraft, useRunForm } from '../../../renderer/state/form.ts'
import { recaptureConfig } from '../../../renderer/state/recapture.ts'
import { whyNotStart } from '../../../renderer/state/start.ts'
import { derivedOf } from '../../../renderer/views/run/derived.ts'
import { RUN_FORM } from '../../../renderer/views/run/run-form.ts'

const fieldAt = (section: string, key: string): FormField => {
  const field = RUN_FORM.find((s) => s.key === section)?.fields.find((f) => f.key === key)
  if (field === undefined) throw new Error(`the form has no ${section}.${key}`)
  return field
}

describe('the form made from the schema', () => {
  test('has every section and field of the schema, in its order', () => {
    expect(RUN_FORM.map(({ key }) => key)).toEqual(Object.keys(runConfigSchema.shape))
    const model = RUN_FORM.find(({ key }) => key === 'model')
    expect(model?.fields.map(({ key }) => key)).toContain('kvLoraRank')
  })

  test('knows a control other than JSON text for every field but free records', () => {
    const json = RUN_FORM.flatMap(({ key, fields }) =>
      fields.filter(({ control }) => control.kind === 'json').map((field) => `${key}.${field.key}`),
    )
    expect(json).toEqual(['serving.versions'])
  })

  test('puts a unit behind numbers only, and says that 0 is off where it is', () => {
    const rest = fieldAt('engine', 'restOfLayer')
    expect([undefined, 0, 1e6, 'model'].map((value) => unitText(rest, value))).toEqual([
      'off',
      'off',
      'bytes',
      '',
    ])
    expect(unitText(fieldAt('workload', 'topk'), undefined)).toBe('keys')
  })

  test('takes words, units, limits and defaults from the schema', () => {
    expect(fieldAt('parallel', 'dcpSize')).toMatchObject({
      title: 'DCP size',
      unit: 'ranks',
      fallback: 4,
      optional: false,
      control: { kind: 'number', integer: true, min: 1, max: 64 },
    })
    expect(fieldAt('parallel', 'comm').control).toEqual({ kind: 'choice', options: ['ag_rs', 'a2a', 'p2p'] })
    expect(fieldAt('parallel', 'replicateQ').control).toEqual({ kind: 'switch' })
    expect(fieldAt('engine', 'lseBase').control).toEqual({ kind: 'choice', options: ['e', '2'] })
    expect(fieldAt('cache', 'kvDtype').control).toEqual({
      kind: 'choice',
      options: ['fp32', 'bf16', 'fp8', 'fp8_ds_mla'],
    })
    expect(fieldAt('workload', 'topk')).toMatchObject({ optional: true, control: { kind: 'number', min: 1 } })
    for (const key of ['graph', 'rowStats', 'observer'])
      expect(fieldAt('engine', key).control).toEqual({ kind: 'switch' })
    expect(fieldAt('engine', 'restOfLayer')).toMatchObject({
      fallback: 0,
      control: { kind: 'either', options: ['model'], other: { kind: 'number', min: 0 } },
    })
    expect(fieldAt('model', 'softmaxScale')).toMatchObject({ optional: true, control: { integer: false } })
    expect(fieldAt('serving', 'backend').control).toEqual({ kind: 'choice', options: BACKEND_NAMES })
    expect(fieldAt('serving', 'draft').control).toEqual({ kind: 'text', maxLength: 64 })
  })

  test('makes unions of words and another value', () => {
    expect(fieldAt('check', 'rows').control).toMatchObject({
      kind: 'either',
      options: ['auto', 'all', 'none'],
      other: { kind: 'number' },
    })
    expect(fieldAt('capture', 'steps').control).toMatchObject({ kind: 'either', other: { kind: 'numbers' } })
    expect(fieldAt('capture', 'layers').control).toEqual({ kind: 'numbers' })
  })

  test('makes lists of records a table whose new row is valid where defaults are', () => {
    const { control } = fieldAt('workload', 'requests')
    expect(control).toMatchObject({ kind: 'table', newRow: { contextLen: 1024, count: 1 } })
    const faults = fieldAt('faults', '').control
    expect(faults).toMatchObject({ kind: 'table', newRow: { fault: 'lse-base-mismatch', ranks: 'all' } })
  })

  test('follows a schema that it has never seen', () => {
    const sections = formOf(
      z.strictObject({
        part: z
          .strictObject({ maxAge: z.int().max(9).optional(), on: z.boolean().default(true) })
          .prefault({}),
        names: z.array(z.string()).default([]),
      }),
    )
    expect(sections).toMatchObject([
      {
        title: 'Part',
        fields: [
          { key: 'maxAge', title: 'Max age', optional: true, control: { kind: 'number', max: 9 } },
          { key: 'on', fallback: true, control: { kind: 'switch' } },
        ],
      },
      { title: 'Names', fields: [{ key: '', control: { kind: 'json' } }] },
    ])
  })
})

describe('paths into a configuration', () => {
  test('are split and joined as messages write them', () => {
    expect(pathParts('workload.requests[2].contextLen')).toEqual(['workload', 'requests', 2, 'contextLen'])
    expect(pathOf(pathParts('faults[0].ranks[1]'))).toBe('faults[0].ranks[1]')
  })

  test('read and write copies, and take keys out', () => {
    const before = { a: { b: [1, { c: 2 }] }, d: 3 }
    const after = withValueAt(before, 'a.b[1].c', 5)
    expect(valueAt(after, 'a.b[1].c')).toBe(5)
    expect(valueAt(before, 'a.b[1].c')).toBe(2)
    expect(withValueAt(before, 'd', undefined)).toEqual({ a: { b: [1, { c: 2 }] } })
    expect(withValueAt({}, 'x.y', 1)).toEqual({ x: { y: 1 } })
  })

  test('reach nothing that an object only inherits', () => {
    expect(valueAt({}, 'constructor.name')).toBeUndefined()
    expect(valueAt({}, '__proto__')).toBeUndefined()
  })

  test('hold issues at or below them, not of a longer name', () => {
    expect(within('capture.layers[0]', 'capture.layers')).toBe(true)
    expect(within('capture.layersMore', 'capture.layers')).toBe(false)
    expect(issuesAt([{ path: 'model.heads', message: 'm' }], 'model')).toHaveLength(1)
  })
})

describe('typed numbers', () => {
  test('are numbers in every usual spelling and text else', () => {
    expect(['12', ' 1 000 ', '1_000', '1e3', '.5', '-2'].map(valueOfText)).toEqual([
      12, 1000, 1000, 1000, 0.5, -2,
    ])
    expect(['abc', '1.2.3', '0x10', '--1'].map(valueOfText)).toEqual(['abc', '1.2.3', '0x10', '--1'])
    expect(valueOfText('  ')).toBeUndefined()
  })

  test('are lists with commas, and back', () => {
    expect(listOfText('0, 3;5,')).toEqual([0, 3, 5])
    expect(listOfText('0, x')).toEqual([0, 'x'])
    expect(textOfList([0, 3])).toBe('0, 3')
  })

  test('step within their limits, and text does not step', () => {
    expect(stepped(63, 10, { min: 1, max: 64 })).toBe(64)
    expect(stepped('x', 1, {})).toBeNull()
  })
})

describe('the draft', () => {
  beforeEach(() => {
    useRunForm.getState().reset()
    useRunForm.getState().settle()
  })

  test('is valid at first and judged with each edit', () => {
    expect(useRunForm.getState().issues).toEqual([])
    useRunForm.getState().set('parallel.dcpSize', 3)
    expect(useRunForm.getState().issues).toEqual([
      { path: 'parallel.dcpSize', message: 'must divide tpSize (4), got 3' },
    ])
    expect(useRunForm.getState().config).toBeNull()
  })

  test('names what the engine cannot do yet as an issue of a valid configuration', () => {
    useRunForm.getState().set('serving.kernel', 'x')
    const { issues, config } = useRunForm.getState()
    expect(issues.map(({ path }) => path)).toEqual(['serving.kernel'])
    expect(config).not.toBeNull()
  })

  test('undoes typing into one field as one edit, and redoes it', () => {
    const { set, undo, redo, settle } = useRunForm.getState()
    const heads = (): unknown => valueAt(useRunForm.getState().draft, 'model.heads')
    set('model.heads', 1)
    set('model.heads', 12)
    set('model.heads', 128)
    settle()
    set('model.layers', 2)
    undo()
    expect(heads()).toBe(128)
    undo()
    expect(heads()).toBe(16)
    redo()
    expect(heads()).toBe(128)
    set('model.heads', 32)
    expect(useRunForm.getState().future).toEqual([])
  })

  test('presets fix the model only, the tiny demo a whole run', () => {
    const { set, loadPreset } = useRunForm.getState()
    set('parallel.tpSize', 8)
    loadPreset('deepseek-v3')
    expect(valueAt(useRunForm.getState().draft, 'parallel.tpSize')).toBe(8)
    expect(valueAt(useRunForm.getState().draft, 'model')).toMatchObject({
      preset: 'deepseek-v3',
      heads: 128,
      layers: 61,
    })
    loadPreset('tiny')
    expect(valueAt(useRunForm.getState().draft, 'parallel.tpSize')).toBe(4)
  })

  test.each(PRESET_NAMES)('the preset %s gives a configuration that parses to itself', (name) => {
    const draft = presetDraft(name)
    expect(judge(draft)).toEqual({ issues: [], config: draft })
  })

  test('is copied as JSON and taken back unchanged', () => {
    const { draft } = useRunForm.getState()
    expect(parseDraft(JSON.stringify(draft), filled)).toEqual({ ok: true, draft })
  })

  test('takes a wrong configuration as it is and refuses what is none', () => {
    expect(parseDraft('{"parallel":{"dcpSize":3}}', filled)).toEqual({
      ok: true,
      draft: { parallel: { dcpSize: 3 } },
    })
    expect(parseDraft('[1]', filled)).toMatchObject({ ok: false })
    expect(parseDraft('{', filled)).toMatchObject({ ok: false, problem: expect.stringContaining('not JSON') })
  })
})

describe('what a configuration means', () => {
  const config = (over: unknown) => {
    const parsed = parseRunConfig(over)
    if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join('; '))
    return parsed.config
  }

  test('local lengths sum to the longest request, and pages hold every rank', () => {
    const derived = derivedOf(
      config({
        parallel: { dcpSize: 4, interleave: 64 },
        workload: { requests: [{ contextLen: 99 }], steps: 1, qLen: 1 },
      }),
    )
    expect(derived.longest).toBe(100)
    expect(derived.localLengths).toEqual([64, 36, 0, 0])
    expect(derived.pages).toBe(1)
    expect(derived.kvBytesPerRank).toBe(64 * 1152 * 4)
  })

  test('bytes of a token are those of each cache type', () => {
    const bytes = (kvDtype: string): number => tokenBytes(config({ cache: { kvDtype } }))
    expect(['fp32', 'bf16', 'fp8', 'fp8_ds_mla'].map(bytes)).toEqual([2304, 1152, 576, 656])
  })

  test('the context grows by accepted tokens', () => {
    const derived = derivedOf(
      config({
        workload: { requests: [{ contextLen: 10, count: 3 }], steps: 5, qLen: 4, acceptedPerStep: 2 },
      }),
    )
    expect(derived).toMatchObject({ requests: 3, rows: 12, tokensPerStep: 6, longest: 14, longestAtEnd: 22 })
  })
})

describe('running again with a capture', () => {
  const base = presetDraft('tiny')

  test('adds the step and layer to what was captured', () => {
    expect(recaptureConfig(base, 3, 2).capture).toEqual({ steps: [3, 23], layers: [0, 2] })
    expect(recaptureConfig({ ...base, capture: { steps: 'none', layers: [] } }, 3, 1).capture).toEqual({
      steps: [3],
      layers: [1],
    })
  })

  test('never asks for more than the configuration allows', () => {
    const steps = Array.from({ length: 64 }, (_, i) => i)
    const config = { ...base, workload: { ...base.workload, steps: 100 }, capture: { steps, layers: [0] } }
    const again = recaptureConfig(config, 99, 0)
    expect(parseRunConfig(again)).toMatchObject({ ok: true })
    expect(again.capture.steps).toContain(99)
  })
})

test('Start says why it is not possible', () => {
  const ready = { status: 'ready', pid: 1 } as const
  const desktop = {
    engine: ready,
    store: ready,
    activeRun: null,
    lastRun: null,
    activeSweep: null,
    lastSweep: null,
    dumps: [],
    diagnosis: null,
    settings: DEFAULT_SETTINGS,
    runtime: { app: '', electron: '', chrome: '', node: '', engine: '', device: '' },
    machine: null,
  }
  expect(whyNotStart(desktop, 0)).toBeNull()
  expect(whyNotStart(desktop, 1)).toContain('fields to correct')
  expect(whyNotStart({ ...desktop, engine: { status: 'crashed', message: 'm' } }, 0)).toContain('restart')
  expect(whyNotStart({ ...desktop, activeRun: { id: 'a', phase: 'running', fraction: 0 } }, 0)).toContain(
    'in progress',
  )
})
