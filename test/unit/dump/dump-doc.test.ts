import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { QUESTIONS } from '../../../app/dump/questions.ts'
import {
  HOLDS,
  type MetadataKey,
  OPTIONAL_METADATA,
  REQUIRED_METADATA,
  TENSORS,
  type TensorRule,
} from '../../../app/dump/schema.ts'

const doc = readFileSync(new URL('../../../docs/dump.md', import.meta.url), 'utf8')

/** Rows of the tables of a section, one list a table. */
const tablesOf = (section: string): string[][] =>
  (doc.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
    .split(/\n\| --- .*\n/)
    .slice(1)
    .map((table) => (table.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('|')))

const keyRow = ({ key, takes, doc }: MetadataKey): string => `| \`${key}\` | ${takes} | ${doc} |`
const tensorRow = ({ name, dims, holds, doc }: TensorRule): string =>
  `| \`${name}\` | [${dims.join(', ')}] | ${HOLDS[holds].join(', ')} | ${doc} |`

const need = (name: string): string =>
  name
    .split(' + ')
    .map((part) => `\`${part}\``)
    .join(' and ')

describe('docs/dump.md', () => {
  it('lists every key of the metadata', () => {
    expect(tablesOf('Metadata')).toEqual([REQUIRED_METADATA.map(keyRow), OPTIONAL_METADATA.map(keyRow)])
  })

  it('lists every tensor with shape and types', () => {
    expect(tablesOf('Tensors')).toEqual([TENSORS.map(tensorRow)])
  })

  it('lists every question with what it needs', () => {
    expect(tablesOf('Questions')).toEqual([
      QUESTIONS.map(
        ({ asks, needs, alone, onlyWith }) =>
          `| ${asks}${onlyWith === undefined ? '' : ` (where there is \`${onlyWith}\`)`} | ${needs.map((any) => any.map(need).join(' or ')).join(', ')}${alone ? '' : ', of every rank'} |`,
      ),
    ])
  })
})
