import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { saveProblem, writeWhole } from '../../../main/desktop/write-whole.ts'
import { plainText } from '../../../renderer/export/dom-table.ts'
import { fileName } from '../../../renderer/export/file-name.ts'
import { arcPath, arcToPath } from '../../../renderer/export/svg-arcs.ts'
import { attributes, escapeText, fontOf, paintOf } from '../../../renderer/export/svg-text.ts'
import { allRows } from '../../../renderer/export/table-source.ts'

describe('text in SVG', () => {
  it('can be anything that a trace says', () => {
    expect(escapeText('<script>"&\u0000\u001b[31m')).toBe('&lt;script&gt;&quot;&amp;\ufffd\ufffd[31m')
    expect(attributes({ x: 1, fill: undefined, title: 'a"b' })).toBe(' x="1" title="a&quot;b"')
  })

  it('keeps colours and fonts as every viewer takes them', () => {
    expect(paintOf('#ff0000')).toEqual({ colour: '#ff0000' })
    expect(paintOf('rgba(1, 2, 3, 0.5)')).toEqual({ colour: 'rgb(1, 2, 3)', opacity: 0.5 })
    expect(fontOf('11px "DejaVu Sans", sans-serif')).toEqual({
      'font-family': '"DejaVu Sans", sans-serif',
      'font-size': '11',
      'font-weight': undefined,
      'font-style': undefined,
    })
    expect(fontOf('italic bold 12.5px monospace')).toMatchObject({
      'font-size': '12.5',
      'font-weight': 'bold',
      'font-style': 'italic',
    })
  })
})

describe('curves of a canvas as SVG', () => {
  const centre = { x: 10, y: 10 }

  it('go the way and the part of the circle that was asked for', () => {
    const quarter = arcPath(centre, 5, 0, Math.PI / 2, false)
    expect(quarter.start).toEqual({ x: 15, y: 10 })
    expect(quarter.path).toBe('A5 5 0 0 1 10 15')
    expect(arcPath(centre, 5, 0, Math.PI / 2, true).path).toBe('A5 5 0 1 0 10 15')
    // A negative way is the rest of the circle.
    expect(arcPath(centre, 5, Math.PI / 2, 0, false).path).toBe('A5 5 0 1 1 15 10')
  })

  it('close a whole circle', () => {
    expect(arcPath(centre, 5, 0, 2 * Math.PI, false).path).toBe('A5 5 0 0 1 5 10A5 5 0 0 1 15 10')
  })

  it('round a corner between its two sides', () => {
    const turn = arcToPath({ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 10, y: 10 }, 4)
    expect(turn.start.x).toBeCloseTo(6)
    expect(turn.start.y).toBeCloseTo(0)
    expect(turn.path).toBe('A4 4 0 0 1 10 4')
    expect(arcToPath({ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 10, y: -10 }, 4).path).toBe('A4 4 0 0 0 10 -4')
    // Straight on, and back on itself, there is nothing to round.
    expect(arcToPath({ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 20, y: 0 }, 4).path).toBe('')
    expect(arcToPath({ x: 0, y: 0 }, { x: 0, y: 0 }, { x: 20, y: 0 }, 4).path).toBe('')
  })
})

describe('cells of a table', () => {
  it('are numbers where the window writes one', () => {
    expect(plainText('1\u2009234\u2009567.5')).toBe('1234567.5')
    expect(plainText('\u221212')).toBe('-12')
    expect(plainText('3.2e\u22127')).toBe('3.2e-7')
    expect(plainText('–')).toBe('')
    expect(plainText('  12.5\u2009%  ')).toBe('12.5 %')
    expect(plainText('vllm  \n flashmla')).toBe('vllm flashmla')
  })
})

describe('the name of a file', () => {
  it('is one that every system takes', () => {
    expect(fileName('2026-11-30 tiny Stages', 'csv')).toBe('2026-11-30 tiny Stages.csv')
    expect(fileName('../../etc/passwd', 'csv')).toBe('etc-passwd.csv')
    expect(fileName('Ω', 'svg')).toBe('dcpscope.svg')
    expect(fileName('x'.repeat(300), 'png')).toHaveLength(120)
  })
})

describe('all rows of a long table', () => {
  const rows = Array.from({ length: 25 }, (_, i) => i)
  const ask = async (from: number): Promise<readonly number[]> => rows.slice(from, from + 10)

  it('come part by part, and say how far they are', async () => {
    const told: number[] = []
    const work = { signal: new AbortController().signal, onRows: (done: number) => told.push(done) }
    expect(await allRows(work, 10, 25, ask)).toEqual(rows)
    expect(told).toEqual([10, 20, 25])
  })

  it('end where there are fewer than was said', async () => {
    const work = { signal: new AbortController().signal, onRows: () => {} }
    expect(await allRows(work, 10, 1000, ask)).toEqual(rows)
  })

  it('stop when nobody waits any more', async () => {
    const own = new AbortController()
    const asked: number[] = []
    const reading = allRows({ signal: own.signal, onRows: () => own.abort() }, 10, 25, async (from) => {
      asked.push(from)
      return ask(from)
    })
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
    expect(asked).toEqual([0, 10])
  })
})

describe('a file', () => {
  it('is written whole or not at all, and leaves what was there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dcpscope-save-'))
    const path = join(folder, 'stages.csv')
    writeFileSync(path, 'before')
    await writeWhole(path, new Uint8Array([97, 98]))
    expect(readFileSync(path, 'utf8')).toBe('ab')
    // A folder cannot be replaced by a file.
    await expect(writeWhole(folder, 'x')).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(['stages.csv'])
    const gone = await writeWhole(join(folder, 'gone', 'a.csv'), 'x').catch(saveProblem)
    expect(gone).toBe('this folder is not there any more; choose another')
    expect(saveProblem(new Error('odd'))).toBe('odd')
    rmSync(folder, { recursive: true })
  })
})
