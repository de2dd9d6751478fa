import { expect, test } from 'vitest'
import { z } from 'zod'
import { PRESET_NAMES, runConfigSchema } from '../../../app/run/config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { PRESETS } from '../../../app/run/presets.ts'
import { unsupported } from '../../../app/run/support.ts'
import { partsOf, row, rows, type Schema } from './field-rows.ts'

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
    'Rules between fields: `dcpSize` divides `tpSize`, and is 1 in `tp` mode; `tpSize` divides `heads`; `interleave` divides\n`pageSize`; `heads * dcpSize / tpSize` is at most 128; steps and layers that are named lie within the\nrun; `kvHeads` divides `heads` and goes with `headDim`, and `kvHeads * dcpSize / tpSize` is whole or 1 by a whole number (1 KV\nhead is kept then); `fp32` caches are the CPU\'s alone; `p2p` goes with `wireDtype: "out"`, and `engine.graph`,\n`engine.observer` and `engine.kernelTrace` a GPU\'s; `fp8_ds_mla` needs a latent width of 512 and a rope width of 64; `engine.restOfLayer: "model"` needs a preset that is a\nmodel, and reads per rank the projections, shared weights and distinct experts, E(1-(1-k/E)^T) of E with k active, that\nthe T query tokens of a step meet, as the mean over the model\'s layers. `serving.kernel` is one that the back-end has.\nWith `serving.draft` a layer of attention runs beside the model in each step and proposes its query tokens, so `workload.qLen`\nis above 1; [architecture.md](architecture.md) says what it is. Faults act on ranks, layers and steps of the run, or on the\ndraft by its branch, and together; each has parameters and needs of its own, and [scenarios.md](scenarios.md) says which a GPU\ncan have.\n[backends.md](backends.md) has what each back-end accepts, refuses or replaces, and the fields that it fixes.',
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
