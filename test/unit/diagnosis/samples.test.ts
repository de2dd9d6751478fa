import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diagnose } from '../../../app/diagnosis/diagnose.ts'
import { readDumps } from '../../../main/dump/dump-files.ts'
import { addon } from '../../native/engine.ts'
import { firstOf } from './altered.ts'

/** Dumps of a real kernel, four incidents in folders of these names. */
const FOLDER = process.env.DCPSCOPE_SAMPLE_DUMPS ?? '../shared/data/dumps'
const isThere = existsSync(FOLDER)
if (!isThere)
  console.warn(`skipped: no dumps of a real kernel in ${FOLDER}; DCPSCOPE_SAMPLE_DUMPS names their folder`)

describe.skipIf(!isThere)('dumps of a real kernel', () => {
  it.each([
    ['healthy-dcp4', 'none', []],
    ['healthy-dcp8-empty-shards', 'none', []],
    ['lse-base-mismatch-dcp2', 'lse-base-mismatch', [0, 1]],
    ['empty-row-dcp8', 'empty-row-not-neutralised', [3, 4, 5, 6, 7]],
  ])('%s: %s', async (name, fault, ranks) => {
    const diagnosis = await diagnose(await readDumps([join(FOLDER, name)]), { reference: addon })
    expect(firstOf(diagnosis)).toEqual({ fault, ranks })
    expect(diagnosis.findings.length).toBe(fault === 'none' ? 0 : 1)
    expect(diagnosis.information.map(({ kind }) => kind)).not.toContain('unexplained')
    expect(diagnosis.inputIssues).toEqual([])
  })
})
