import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { issueText } from '../../../app/run/parse.ts'
import { sweepConfigSchema } from '../../../app/sweep/config.ts'
import { expand } from '../../../app/sweep/expand.ts'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import { partsOf, row } from '../run/field-rows.ts'
import { H200 } from './sample.ts'

const doc = readFileSync(new URL('../../../docs/sweep.md', import.meta.url), 'utf8')

describe('docs/sweep.md', () => {
  it('lists the fields, defaults and limits that the schema has', () => {
    const { properties = {} } = z.toJSONSchema(sweepConfigSchema, { io: 'input' })
    const { base = {}, memory = {}, ...lists } = properties
    const expected = [
      `| \`base\` | a run configuration |  | ${partsOf(base).description} |`,
      ...Object.entries(lists).flatMap(([path, schema]) => row(path, schema)),
      ...Object.entries(partsOf(memory).properties ?? {}).flatMap(([key, schema]) =>
        row(`memory.${key}`, schema),
      ),
    ]
    const table = doc.split('\n').filter((line) => line.startsWith('| `'))
    expect(table.sort()).toEqual(expected.sort())
  })

  it('has an example that gives points', () => {
    const example = /```json\n([\s\S]*?)```/.exec(doc)?.[1] ?? ''
    const parsed = parseSweepConfig(JSON.parse(example))
    if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
    expect(expand(parsed.config, H200).points.length).toBeGreaterThan(10)
  })
})
