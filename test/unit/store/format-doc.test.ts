import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORMAT_VERSION } from '../../../app/trace/manifest.ts'
import { type Column, TABLE_NAMES, TABLES } from '../../../app/trace/tables.ts'
import { ENUM_VALUES, storedType } from '../../../main/store/table-sql.ts'

const doc = readFileSync(new URL('../../../docs/format.md', import.meta.url), 'utf8')

const row = ({ name, type, unit, none, doc }: Column): string =>
  `| \`${name}\` | ${storedType(type)} | ${unit ?? ''} | ${doc}${none === undefined || doc.includes('NULL') ? '' : ' NULL: none.'} |`

describe('docs/format.md', () => {
  it.each(TABLE_NAMES)('describes every column of %s with type and unit', (name) => {
    const section = doc.split(`### \`${name}\``)[1]?.split(/\n##+ /)[0] ?? ''
    const rows = section.split('\n').filter((line) => line.startsWith('| `'))
    expect(rows).toEqual(TABLES[name].columns.map(row))
  })

  it.each(Object.entries(ENUM_VALUES))('lists every %s', (_, values) => {
    for (const value of values) expect(doc).toContain(`\`${value}\``)
  })

  it('has a changelog entry for the current version', () => {
    expect(doc).toContain(`- **${FORMAT_VERSION}** `)
  })
})
