import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeRuntime } from '../../../main/cli/electron-runtime.ts'

const root = mkdtempSync(join(tmpdir(), 'dcpscope-runtime-'))
afterAll(() => rmSync(root, { recursive: true }))
mkdirSync(join(root, 'build'))

const record = (text: string): void => writeFileSync(join(root, 'build', 'electron-runtime.json'), text)
const describeIt = () => describeRuntime(join(root, 'dist'))

describe('the Electron runtime', () => {
  it('is none before set-up', () => {
    expect(describeIt()).toEqual({ version: null, source: 'not set up yet' })
  })

  it('is what set-up recorded, as long as it is there', () => {
    record(JSON.stringify({ path: root, version: '25.1.1', source: 'official package' }))
    expect(describeIt()).toEqual({ version: '25.1.1', source: 'official package' })
    record(JSON.stringify({ path: join(root, 'gone'), version: '25.1.1', source: 'official package' }))
    expect(describeIt()).toEqual({ version: null, source: 'the one that set-up found is gone' })
  })

  it.each(['{', '{"version": 5}'])('is none when the record is damaged: %s', (text) => {
    record(text)
    expect(describeIt().version).toBeNull()
  })
})
