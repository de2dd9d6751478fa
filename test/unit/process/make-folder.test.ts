import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from '../../../main/process/make-folder.ts'

let scratch = ''
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'dcpscope-folder-'))
})
afterEach(() => {
  rmSync(scratch, { recursive: true, force: true })
})

describe('making a folder', () => {
  it('makes those above it too, and does not mind one that is there', () => {
    const path = join(scratch, 'a', 'b', 'c')
    makeFolder(path)
    makeFolder(path)
    expect(statSync(path).isDirectory()).toBe(true)
  })

  it('says why it cannot below a file', () => {
    writeFileSync(join(scratch, 'file'), '')
    expect(() => makeFolder(join(scratch, 'file', 'a'))).toThrow(/ENOTDIR/)
  })

  it.runIf(existsSync('/proc/self'))('returns where the system takes no entries', () => {
    expect(() => makeFolder('/proc/dcpscope/run.dcp')).toThrow(/ENOENT|EACCES|EPERM/)
  })
})
