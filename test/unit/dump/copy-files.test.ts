import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyFiles } from '../../../main/dump/copy-files.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-copy-'))
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), name)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const copies = (...names: string[]) => names.map((name) => ({ from: join(folder, name), name: `${name}2` }))
const nothing = (): void => {}

describe('files of a dump', () => {
  it('are copied into a folder that is made', async () => {
    const out = join(folder, 'x', 'y')
    await copyFiles(copies('a', 'b'), out, nothing)
    expect(readdirSync(out)).toEqual(['a2', 'b2'])
    expect(readFileSync(join(out, 'b2'), 'utf8')).toBe('b')
  })

  it.each([
    ['one cannot be read', ['a', 'b', 'c'], nothing, /ENOENT/],
    [
      'somebody ends it behind the last',
      ['a', 'b'],
      () => {
        if (existsSync(join(folder, 'x', 'y', 'b2'))) throw new Error('ended')
      },
      /ended/,
    ],
  ])('leave nothing behind, folders neither, when %s', async (_, names, check, says) => {
    await expect(copyFiles(copies(...names), join(folder, 'x', 'y'), check)).rejects.toThrow(says)
    expect(readdirSync(folder)).toEqual(['a', 'b'])
  })

  it('leave a folder that was there as it was', async () => {
    const out = join(folder, 'out')
    mkdirSync(out)
    writeFileSync(join(out, 'mine'), '')
    await expect(copyFiles(copies('a', 'c'), out, nothing)).rejects.toThrow(/ENOENT/)
    expect(readdirSync(out)).toEqual(['mine'])
  })
})
