import { expect, test } from 'vitest'
import { z } from 'zod'
import { PRESET_NAMES, runConfigSchema } from '../../../app/run/config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { PRESETS } from '../../../app/run/presets.ts'
import { unsupported } from '../../../app/run/support.ts'

type Schema = z.core.JSONSchema._JSONSchema

const partsOf = (schema: Schema | undefined): z.core.JSONSchema.JSONSchema =>
  schema === undefined || typeof schema === 'boolean' ? {} : schema

const bound = (value: number): string =>
  value >= 65_536 && Number.isInteger(Math.log2(value)) ? `2^${Math.log2(value)}` : String(value)

const bounds = ({ minimum, exclusiveMinimum, maximum, multipleOf }: z.core.JSONSchema.JSONSchema): string =>
  [
    typeof exclusiveMinimum === 'number'
      ? `above ${bound(exclusiveMinimum)}, up to`
      : `${bound(minimum ?? 0)} to`,
    maximum === undefined ? '' : bound(maximum),
    multipleOf === undefined ? '' : `in steps of ${multipleOf}`,
  ]
    .filter((text) => text !== '')
    .join(' ')

/** What a field takes, in a few words. */
const takes = (schema: z.core.JSONSchema.JSONSchema): string => {
  if (schema.anyOf !== undefined) return schema.anyOf.map((branch) => takes(partsOf(branch))).join(', or ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(' ')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return bounds(schema)
    case 'boolean':
      return '`true` `false`'
    case 'array': {
      const items = Array.isArray(schema.items) ? undefined : schema.items
      const item = partsOf(items)
      const most = schema.maxItems === undefined ? '' : ` (at most ${schema.maxItems})`
      return item.type === 'object' ? `a list of objects${most}` : `a list of ${takes(item)}${most}`
    }
    case 'object':
      return 'an object of text by name'
    default:
      return 'text'
  }
}

const row = (path: string, given: Schema): string[] => {
  const schema = partsOf(given)
  const fallback = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``
  const unit = typeof schema.unit === 'string' ? `, in ${schema.unit}` : ''
  const own = `| \`${path}\` | ${takes(schema)}${unit} | ${fallback} | ${schema.description ?? ''} |`
  const item = Array.isArray(schema.items) ? {} : partsOf(schema.items)
  return [own, ...rows(`${path}[].`, item)]
}

const rows = (prefix: string, schema: z.core.JSONSchema.JSONSchema): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, field]) => row(prefix + key, field))

const section = ([key, given]: [string, Schema]): string => {
  const schema = partsOf(given)
  const fields = schema.type === 'array' ? row(key, schema) : rows(`${key}.`, schema)
  return [
    `## ${key}`,
    schema.description ?? '',
    ['| field | takes | default | |', '| --- | --- | --- | --- |', ...fields].join('\n'),
  ].join('\n\n')
}

const EXAMPLE = {
  model: { preset: 'deepseek-v3', layers: 2 },
  parallel: { tpSize: 8, dcpSize: 8, interleave: 16, comm: 'a2a' },
  cache: { pageSize: 64, kvDtype: 'bf16' },
  workload: { requests: [{ contextLen: 4096, count: 2 }], qLen: 2, steps: 8 },
  capture: { steps: [0, 7], layers: [0] },
}

const presetRow = ({ name, title, config }: (typeof PRESETS)[number]): string =>
  `| \`${name}\` | ${title} | ${config.model?.heads} | ${config.model?.layers} | ${config.model?.softmaxScale} |`

/** docs/config.md, from the schema that form, command line and engine share. */
const configPage = (): string => {
  const schema = z.toJSONSchema(runConfigSchema, { io: 'input' })
  return [
    '# The configuration of a run',
    'What `dcpscope run CONFIG.json` reads, what the form of the window edits (its copy button gives this JSON), and what\n`run.json` of a bundle keeps. Every field has a default, so a file names only what differs; a key that is not listed\nhere is refused. Values that this version cannot run yet (the README lists them) are refused by name.',
    `\`\`\`json\n${JSON.stringify(EXAMPLE, null, 2)}\n\`\`\``,
    `A preset, named by \`model.preset\` or \`--preset\`, lies below the given fields; \`tiny\` also sets a small cache and\nworkload.`,
    [
      '| preset | model | heads | layers | softmax scale |',
      '| --- | --- | --- | --- | --- |',
      ...PRESETS.map(presetRow),
    ].join('\n'),
    "Rules between fields: `dcpSize` divides `tpSize`, and is 1 in `tp` mode; `tpSize` divides `heads`; `interleave` divides\n`pageSize`; `heads * dcpSize / tpSize` is at most 128; steps and layers that are named lie within the\nrun; `fp32` caches are the CPU's alone, and `engine.graph`, `engine.observer` and `engine.kernelTrace` a GPU's;\n`fp8_ds_mla` needs a latent width of 512 and a rope width of 64; `engine.restOfLayer: \"model\"` needs a preset that is a\nmodel, and reads per rank the projections, shared weights and distinct experts, E(1-(1-k/E)^T) of E with k active, that\nthe T query tokens of a step meet, as the mean over the model's layers.",
    ...Object.entries(schema.properties ?? {}).map(section),
  ]
    .join('\n\n')
    .concat('\n')
}

test('docs/config.md lists the fields, defaults and limits that the schema has', async () => {
  await expect(configPage()).toMatchFileSnapshot('../../../docs/config.md')
})

test('the example of docs/config.md is a configuration that the engine takes', () => {
  const parsed = parseRunConfig(EXAMPLE)
  expect(parsed.ok && unsupported(parsed.config)).toEqual([])
})

test('docs/config.md has every preset', () => {
  expect(PRESETS.map(({ name }) => name)).toEqual([...PRESET_NAMES])
})
