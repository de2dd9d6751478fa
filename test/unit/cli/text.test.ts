import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csv } from '../../../app/messages/csv.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { gpusOf, parseGpus } from '../../../main/cli/gpus.ts'
import { jsonProblem } from '../../../main/cli/json-problem.ts'
import { progressText, summaryText } from '../../../main/cli/run-text.ts'
import { textTable } from '../../../main/cli/text-table.ts'

describe('where a text stops being JSON', () => {
  it.each([
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": [1, 2\n}', 3, 1],
    ['{"a": tru}', 1, 7],
    ["{'a': 1}", 1, 2],
    ['{"a": 01}', 1, 8],
    ['{"a" 1}', 1, 6],
    ['[1 2]', 1, 4],
    ['{"a":1} x', 1, 9],
    ['{"a\\q": 1}', 1, 4],
  ])('%j is at line %i, column %i', (text, line, column) => {
    expect(jsonProblem(text)).toContain(`line ${line}, column ${column}: unexpected`)
  })

  it('is the end when the text breaks off', () => {
    expect(jsonProblem('{"a": [1, 2')).toBe('is not JSON: line 1, column 12: the text ends too early')
    expect(jsonProblem(' \n')).toBe('is not JSON: it is empty')
  })

  it('lies within the text after any cut or insertion that breaks it', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('}', ',', '\u0001', '"', 'x'), (json, at, extra) => {
        const cut = at % (json.length + 1)
        const broken = json.slice(0, cut) + extra + json.slice(cut)
        let valid = true
        try {
          JSON.parse(broken)
        } catch {
          valid = false
        }
        fc.pre(!valid)
        const column = Number(/column (\d+)/.exec(jsonProblem(broken))?.[1] ?? Number.NaN)
        expect(column).toBeGreaterThanOrEqual(1)
        expect(column).toBeLessThanOrEqual(broken.length + 1)
      }),
    )
  })
})

describe('a table', () => {
  it('does not pad every row to the length of one long text', () => {
    const [, long, short] = textTable(
      ['a', 'b'],
      [
        ['x'.repeat(1000), 1],
        ['y', 2],
      ],
    ).split('\n')
    expect(long).toBe(`${'x'.repeat(1000)}  1`)
    expect(short).toBe(`${'y'.padEnd(200)}  2`)
  })
})

describe('csv', () => {
  it('quotes by RFC 4180 and ends records with CRLF', () => {
    expect(csv(['a', 'b,c'], [['x"y', 'two\nlines']])).toBe('a,"b,c"\r\n"x""y","two\nlines"\r\n')
  })

  it('keeps a spreadsheet from running text as a formula, and leaves numbers alone', () => {
    expect(csv(['v'], [['=1+1'], ['@x'], ['-cmd'], [-1.5], ['-9007199254740993'], [null]])).toBe(
      "v\r\n'=1+1\r\n'@x\r\n'-cmd\r\n-1.5\r\n-9007199254740993\r\n\r\n",
    )
  })
})

describe('a table of text', () => {
  it('aligns numbers to the right and text to the left', () => {
    expect(
      textTable(
        ['stage', 'us'],
        [
          ['merge', 5],
          ['decode_attn', 1234.5],
        ],
      ),
    ).toBe('stage            us\nmerge             5\ndecode_attn  1234.5')
  })

  it('shows control characters instead of sending them to the terminal', () => {
    expect(textTable(['a'], [['\u001b[31mred\nnext']])).toBe('a\n\\x1b[31mred\\nnext')
  })
})

describe('GPUs of the driver tool', () => {
  it('are read line by line', () => {
    expect(parseGpus('NVIDIA H200, 9.0, 143771, 570.86.15\n')).toEqual([
      { name: 'NVIDIA H200', computeCapability: '9.0', memoryMiB: 143771, driver: '570.86.15' },
    ])
    expect(parseGpus('')).toEqual([])
  })
  it('are those of the engine where the tool is missing', () => {
    const device = {
      name: 'NVIDIA H200',
      computeCapability: '9.0',
      multiprocessors: 132,
      memoryBytes: 143771 * 2 ** 20,
      freeBytes: 2 ** 30,
      driverVersion: '13.0',
      runtimeVersion: '13.0',
    }
    expect(gpusOf({ available: true, devices: [device] })).toEqual([
      { name: 'NVIDIA H200', computeCapability: '9.0', memoryMiB: 143771, driver: 'CUDA 13.0' },
    ])
  })
})

describe('the summary of a run', () => {
  const summary = {
    device: 'CPU',
    backend: 'native',
    ranks: 4,
    steps: 8,
    tokensPerSecond: 1234.6,
    provenance: 'scaled',
    stepMs: { p50: 3.1, p95: 12.34 },
    stages: { merge: { p50Us: 1.5, p95Us: 120 }, metadata: { p50Us: 1, p95Us: 2 } },
    check: {
      checkedRows: 1000,
      maxAbsErr: 0.1,
      maxRelErr: 0.02,
      nanRows: 0,
      emptyRows: 3,
      tolerance: 0.01,
      ok: false,
    },
    dropped: 0,
  } as const

  it('labels what was not measured, says that a check failed, and lists stages in their order', () => {
    const text = summaryText('run', '/b.dcp', summary)
    expect(text).toContain('1,235 tokens/s (scaled)')
    expect(text).toContain('FAILED, 1,000 (row, head) pairs against the fp64 reference')
    expect(text.indexOf('metadata')).toBeLessThan(text.indexOf('merge'))
  })

  it('says of a check that failed by NaN, and not by the error of the rows that were compared, by what it did', () => {
    const withCheck = (check: Partial<Record<'maxRelErr' | 'maxAbsErr', number | null>>): string =>
      summaryText('run', '/b.dcp', { ...summary, check: { ...summary.check, ...check } })
    expect(withCheck({ maxRelErr: 0.003 })).toContain('FAILED by NaN in merged rows, 1,000 (row, head) pairs')
    expect(withCheck({ maxRelErr: null })).toContain('FAILED by NaN in merged rows, nothing was compared')
    expect(withCheck({ maxRelErr: Number.MAX_VALUE })).toContain('largest relative error infinite')
  })

  it('of ranks that took turns names what is emulated, beside each number and in a sentence', () => {
    const text = summaryText(
      'run',
      '/b.dcp',
      {
        ...summary,
        provenance: 'emulated',
        deviceStepMs: { p50: 12, p95: 13 },
        observerCost: { tracedUs: 1010, untracedUs: 1000, ratio: 1.01 },
        stages: { ...summary.stages, merge: { p50Us: 1.5, p95Us: 120, provenance: 'emulated' } },
      },
      { emulated: 'Ranks took turns.' },
    )
    expect(text).toContain('tokens/s (emulated)')
    expect(text).toContain('p95 12.3 ms (emulated)')
    expect(text).toContain('device step  p50 12.0 ms, p95 13.0 ms, all ranks in turn')
    expect(text).toContain('+1.0% of a step (1010 us traced, 1000 us untraced)')
    expect(text).toContain('Ranks took turns.')
    expect(text).toMatch(/merge +1\.50 +120 +emulated/)
    expect(text).toMatch(/metadata +1\.00 +2\.00 +measured/)
  })

  it('of ranks whose processes shared a GPU names that beside every number', () => {
    const sliced = { ...summary, provenance: 'time-sliced' as const }
    const text = summaryText('run', '/b.dcp', sliced, { timeSliced: 'More ranks than GPUs.' })
    expect(text).toContain('tokens/s (time-sliced)')
    expect(text).toContain('p95 12.3 ms (time-sliced)')
    expect(text).toMatch(/^ +time-sliced +More ranks than GPUs\.$/m)
  })

  it('names both reasons where ranks took turns on some of the layers', () => {
    expect(summaryText('run', '/b.dcp', summary, { emulated: 'Ranks took turns.' })).toContain(
      'tokens/s (scaled, emulated)',
    )
  })

  it('says how many kernels were recorded and what that did to the steps, or why none were', () => {
    const kernelTrace = { steps: 1, kernels: 2400, recordedUs: 1500, plainUs: 1200, counted: false }
    expect(summaryText('run', '/b.dcp', { ...summary, kernelTrace })).toContain(
      '2,400 recorded in 1 step by CUPTI, which then took 1500 us instead of 1200 us and do not count above',
    )
    expect(summaryText('run', '/b.dcp', summary, { kernelNote: 'CUPTI is missing' })).toMatch(
      /no kernels +CUPTI is missing/,
    )
  })

  it('says how many tokens of a draft count as accepted, that this is a proxy, and which branch a fault is on', () => {
    const draft = { proposed: 1600, accepted: 3, tolerance: 0.01 }
    const parsed = parseRunConfig({
      workload: { qLen: 2 },
      serving: { draft: 'EAGLE3' },
      faults: [{ fault: 'coverage-gap', branch: 'draft_extend', ranks: [1] }],
    })
    if (!parsed.ok) throw new Error('the configuration is refused')
    const text = summaryText('run', '/b.dcp', { ...summary, draft }, { config: parsed.config })
    expect(text).toMatch(
      /draft +3 of 1,600 proposed tokens count as accepted \(a proxy: its output is within 1e-2 of its reference\)/,
    )
    expect(text).toMatch(/fault +coverage-gap on the draft, rank 1$/m)
  })

  it('has no column for where stages come from when all were measured', () => {
    expect(summaryText('run', '/b.dcp', summary)).not.toContain('source')
  })

  it('says while it goes on what is not measured', () => {
    const progress = {
      id: 'r',
      status: 'running',
      steps: 3,
      totalSteps: 9,
      tokensPerSecond: 1234,
      lastStepMs: 2,
      provenance: 'emulated',
      maxRelErr: null,
      checkedRows: 0,
      endNs: 0,
      events: 0,
      dropped: 0,
    } as const
    expect(progressText(progress)).toBe('step 3/9  1,234 tokens/s (emulated)  2.00 ms a step (emulated)')
    expect(progressText({ ...progress, provenance: 'measured' })).not.toContain('(')
  })

  it('of no finished step has no numbers to show', () => {
    const text = summaryText('run', '/b.dcp', { ...summary, steps: 0, stages: {} })
    expect(text).toContain('none was finished')
    expect(text).not.toMatch(/tokens\/s|p50/)
  })

  it('says so when nothing was checked', () => {
    const check = { ...summary.check, maxRelErr: null, maxAbsErr: null, checkedRows: 0, ok: true }
    expect(summaryText('run', '/b.dcp', { ...summary, check })).toContain('nothing was checked')
  })
})
