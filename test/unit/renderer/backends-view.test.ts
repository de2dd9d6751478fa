import { describe, expect, test } from 'vitest'
import { BACKEND_NAMES, PROFILES } from '../../../app/backends/index.ts'
import { SEMANTIC_ROWS } from '../../../app/backends/words.ts'
import { tabText } from '../../../app/messages/csv.ts'
import { FORM_LINE } from '../../../renderer/state/backend-pick.ts'
import { presetDraft } from '../../../renderer/state/form.ts'
import type { Look } from '../../../renderer/views/backends/look.ts'
import {
  cellAt,
  firstLines,
  linesOf,
  matrixTable,
  pickedOf,
  shownOf,
} from '../../../renderer/views/backends/model.ts'
import { inspectorRows } from '../../../renderer/views/backends/use-inspector.ts'

const LOOK: Look = { words: '', wanted: 'all', framework: 'all' }
const NOWHERE = { row: null, backend: null }
const groups = linesOf(presetDraft('tiny'))
const shown = (parts: Partial<Look> = {}) => shownOf(groups, { ...LOOK, ...parts })
const idsOf = ({ groups: left }: ReturnType<typeof shown>) =>
  left.flatMap(({ lines }) => lines.map(({ id }) => id))
const namesOf = ({ columns }: ReturnType<typeof shown>) => columns.map(({ name }) => name)

const rowsFor = (row: string | null, backend: string | null): Record<string, string> =>
  Object.fromEntries(
    (inspectorRows(pickedOf(shown(), { row, backend }), shown()) ?? []).map(({ label, value }) => [
      label,
      value,
    ]),
  )

describe('what is shown of the matrix', () => {
  test('is all of it at first: the configuration of Run, features and semantics', () => {
    expect(namesOf(shown())).toEqual(BACKEND_NAMES)
    const ids = idsOf(shown())
    expect(ids[0]).toBe(FORM_LINE)
    expect(ids).toEqual(expect.arrayContaining(['q-2', 'pages', ...SEMANTIC_ROWS.map(({ id }) => id)]))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is picked by words: those of names pick columns, others lines', () => {
    expect(namesOf(shown({ words: 'FLASHMLA' }))).toEqual(['vllm-flashmla', 'vllm-flashmla-sparse'])
    expect(namesOf(shown({ words: 'vllm sparse' }))).toEqual(['vllm-flashmla-sparse'])
    const envelope = shown({ words: 'head-envelope' })
    expect(namesOf(envelope)).toEqual(BACKEND_NAMES)
    expect(idsOf(envelope)).toContain('tp8-dcp8')
    expect(idsOf(envelope)).not.toContain('q-2')
    expect(idsOf(shown({ words: 'nothing-like-it' }))).toEqual([])
  })

  test('is picked by verdict of the columns that are left, and by serving engine', () => {
    expect(idsOf(shown({ wanted: 'refused' }))).toContain('comm-a2a')
    const sglang = shown({ wanted: 'refused', framework: 'SGLang' })
    expect(namesOf(sglang)).toEqual(
      PROFILES.filter(({ framework }) => framework === 'SGLang').map(({ name }) => name),
    )
    expect(idsOf(sglang)).not.toContain('comm-a2a')
    expect(idsOf(sglang)).toContain('comm-p2p')
    expect(idsOf(shown({ wanted: 'fallback', framework: 'SGLang' }))).toContain('kv-bf16')
  })

  test('has nothing to say of a configuration that is not valid', () => {
    const [line] = linesOf(null)[0]?.lines ?? []
    expect(line?.cells.every(({ kind }) => kind === 'none')).toBe(true)
  })

  test('is copied as a table', () => {
    const [head, ...lines] = tabText(
      matrixTable(shown({ words: 'flashmla transport', wanted: 'refused' })),
    ).split('\n')
    expect(head).toBe('feature\tvllm-flashmla\tvllm-flashmla-sparse')
    expect(lines).toContain('a2a\taccepted\trefused (transport)')
  })
})

describe('the picked cell', () => {
  test('moves within what is shown and stops at its edges', () => {
    const all = shown()
    expect(cellAt(all, NOWHERE, { lines: 1, columns: 0 })).toEqual({
      row: FORM_LINE,
      backend: BACKEND_NAMES[0],
    })
    const at = { row: 'decode', backend: BACKEND_NAMES[1] ?? '' }
    expect(cellAt(all, at, { lines: 0, columns: -1 })).toEqual({ row: 'decode', backend: BACKEND_NAMES[0] })
    expect(cellAt(all, at, { lines: 0, columns: 1000 }).backend).toBe(BACKEND_NAMES.at(-1))
    expect(cellAt(all, at, { lines: -1000, columns: 0 }).row).toBe(FORM_LINE)
    expect(cellAt(shown({ words: 'nothing-like-it' }), at, { lines: 1, columns: 0 }).row).toBeNull()
  })

  test('has rule, reason, what to do, source, and its configuration in the inspector', () => {
    expect(rowsFor('q-2', 'sglang-trtllm-mla')).toMatchObject({
      'back-end': 'sglang-trtllm-mla',
      'asked for': '2 query tokens',
      verdict: 'refused',
      rule: 'q-len',
      source: 'sgl-project/sglang#33926',
      field: 'workload.qLen',
      'our engine': 'run refuses it as well',
      configuration: 'as JSON',
    })
    expect(rowsFor('kv-bf16', 'sglang-trtllm-mla')).toMatchObject({
      verdict: 'fallback',
      lost: expect.stringMatching(/fusion/),
      'our engine': 'computes it with these semantics',
    })
    expect(rowsFor('decode', 'sglang-tokenspeed-mla')['our engine']).toMatch(/^cannot: serving\.backend: /)
  })

  test('may be a back-end or a feature as a whole', () => {
    expect(rowsFor(null, 'vllm-triton-mla')).toMatchObject({
      'lse base': 'e',
      'Row without keys': 'out NaN, lse -inf',
    })
    expect(rowsFor('comm-a2a', null)).toMatchObject({ 'vllm-flashmla-sparse': 'refused (transport)' })
    expect(rowsFor('pages', 'vllm-cutlass-mla')).toMatchObject({ value: '128 tokens' })
    expect(inspectorRows(pickedOf(shown(), NOWHERE), shown())).toBeNull()
  })

  test('is gone when a filter hides it', () => {
    const left = shown({ words: 'page' })
    expect(pickedOf(left, { row: 'q-2', backend: 'native' }).cell).toBeNull()
  })
})

test('the first lines are those on top, in their groups, and all of them where there is no limit', () => {
  const all = idsOf(shown())
  const first = (count: number) => firstLines(shown().groups, count)
  expect(first(3).flatMap(({ lines }) => lines.map(({ id }) => id))).toEqual(all.slice(0, 3))
  expect(first(3).map(({ title }) => title)).toEqual(
    shown()
      .groups.slice(0, 2)
      .map(({ title }) => title),
  )
  expect(first(0)).toEqual([])
  expect(first(Number.POSITIVE_INFINITY)).toEqual(shown().groups)
})
