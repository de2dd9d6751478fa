import { describe, expect, test } from 'vitest'
import type { Diagnosis, Finding, Picture } from '../../../app/diagnosis/result.ts'
import { barSpan, pictureHeight, pictureTable } from '../../../renderer/views/postmortem/draw-evidence.ts'
import {
  evidenceText,
  expectedText,
  listed,
  nextText,
  selectionOf,
  VERDICT_TONES,
  worthText,
} from '../../../renderer/views/postmortem/findings.ts'
import { diagnosisRows } from '../../../renderer/views/postmortem/use-findings-inspector.ts'

const FINDING: Finding = {
  fault: 'coverage-gap',
  title: 'A token is counted by nobody',
  confidence: 0.975,
  explained: 1,
  ranks: [1, 3],
  steps: [5],
  layers: [2, 4],
  rows: [7],
  rowCount: 1,
  heads: [],
  summary: 'rank 1 counts one token less',
  evidence: { numbers: [] },
  ambiguousWith: [],
  causes: [],
  captureNext: 'the same step with kv',
}

const diagnosis = (parts: Partial<Diagnosis>): Diagnosis => ({
  healthy: false,
  verdict: 'faulty',
  findings: [FINDING],
  notChecked: [],
  information: [],
  inputIssues: [],
  ...parts,
})

describe('a finding', () => {
  test('selects the first of each that it names, and leaves alone what it does not name', () => {
    expect(selectionOf(FINDING)).toEqual({ step: 5, layer: 2, rank: 1 })
  })
  test('says how sure it is and how much it explains', () => {
    expect(worthText(FINDING)).toBe('97.5\u2009% sure, explains 100.0\u2009% of the error')
  })
  test('lists a dozen and counts the rest, also of a list that was cut', () => {
    const all = Array.from({ length: 20 }, (_, i) => i)
    expect(listed(all)).toEqual({ shown: all.slice(0, 12), more: 8 })
    expect(listed(all, 300).more).toBe(288)
    expect(listed([1])).toEqual({ shown: [1], more: 0 })
  })
  test('has its numbers with their unit; what is not finite is said', () => {
    expect(evidenceText({ name: 'a', value: 3, unit: 'tokens' })).toBe('3\u2009tokens')
    expect(evidenceText({ name: 'a', value: null })).toBe('not finite')
    expect(expectedText({ name: 'a', value: 3 })).toBe('')
    expect(expectedText({ name: 'a', value: 3, expected: 0.5 })).toBe('0.5000')
  })
})

test('the inspector has the verdict and each finding, and nothing while there is no diagnosis', () => {
  expect(diagnosisRows(undefined)).toBeNull()
  expect(diagnosisRows({ ok: false, message: 'The diagnosis was cancelled.' })).toBeNull()
  const rows = diagnosisRows({ ok: true, diagnosis: diagnosis({}), allRows: false })
  expect(rows?.map(({ label }) => label)).toEqual(['verdict', 'coverage-gap', 'seen', 'not checked'])
})

describe('a verdict', () => {
  test('says what comes next, in each case', () => {
    expect(nextText(diagnosis({}))).toBe('One cause was found.')
    expect(nextText(diagnosis({ findings: [FINDING, FINDING] }))).toMatch(/^2 causes/)
    const healthy = { verdict: 'healthy', healthy: true, findings: [] } as const
    expect(nextText(diagnosis(healthy))).toMatch(/^Every known failure/)
    expect(
      nextText(diagnosis({ ...healthy, notChecked: [{ fault: 'coverage-gap', needs: ['kv'] }] })),
    ).toMatch(/^1 known failure could not/)
    const open = { verdict: 'undetermined', findings: [] } as const
    expect(nextText(diagnosis(open))).toMatch(/none of the known failures/)
    expect(nextText(diagnosis({ ...open, notChecked: [{ fault: 'coverage-gap', needs: ['kv'] }] }))).toMatch(
      /record it/,
    )
  })
  test('has a colour of status of its own', () => {
    expect(new Set(Object.values(VERDICT_TONES)).size).toBe(3)
  })
})

describe('a picture', () => {
  const bars: Picture = {
    kind: 'bars',
    title: 'lse',
    unit: 'ratio',
    labels: ['rank 0', 'rank 1'],
    series: [
      { name: 'seen', values: [1.5, null] },
      { name: 'right', values: [1, 1] },
    ],
  }
  const heat: Picture = {
    kind: 'heat',
    title: 'error',
    unit: '',
    rowLabel: 'row',
    columnLabel: 'head',
    rows: ['0', '1'],
    columns: ['a', 'b', 'c'],
    values: [1, 2, 3, 4, null, 6],
  }
  test('is a table too', () => {
    expect(pictureTable(bars)).toEqual([
      ['', 'seen', 'right'],
      ['rank 0', '1.5000', '1'],
      ['rank 1', 'not finite', '1'],
    ])
    expect(pictureTable(heat)).toEqual([
      ['', 'a', 'b', 'c'],
      ['0', '1', '2', '3'],
      ['1', '4', 'not finite', '6'],
    ])
  })
  test('has 0 in its span, and room for its rows', () => {
    expect(barSpan([3, null, 5])).toEqual({ min: 0, max: 5 })
    expect(barSpan([-2])).toEqual({ min: -2, max: 0 })
    expect(barSpan([null])).toEqual({ min: 0, max: 1 })
    expect(pictureHeight({ ...heat, rows: Array(400).fill('x') })).toBeLessThan(300)
  })
})
