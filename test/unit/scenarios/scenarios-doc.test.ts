import { expect, test } from 'vitest'
import { z } from 'zod'
import { profileNamed } from '../../../app/backends/index.ts'
import type { Injection } from '../../../app/faults/fault.ts'
import { FAULTS } from '../../../app/faults/index.ts'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { lseBaseMismatch } from '../../../app/scenarios/lse-base-mismatch.ts'
import { type Scenario, scenarioConfigs } from '../../../app/scenarios/scenario.ts'
import { partsOf, takes } from '../run/field-rows.ts'

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const sourceText = (source: string): string => {
  const [repository, number] = source.split('#')
  return `[${source}](https://github.com/${repository}/issues/${number})`
}

const names = (tensors: readonly string[]): string => tensors.map((name) => `\`${name}\``).join(', ')

/** Parameters of a fault in one cell: name, what it takes, default, meaning. */
const parameters = ({ params }: Injection): string =>
  Object.entries(z.toJSONSchema(params, { io: 'input' }).properties ?? {})
    .map(([name, given]) => {
      const schema = partsOf(given)
      const fallback = schema.default === undefined ? '' : `, default \`${schema.default}\``
      return `\`${name}\` (${takes(schema)}${fallback}): ${schema.description}`
    })
    .join('<br>')

/** Why the check of the broken run passes, where it does. */
const passing = ({ harmless, onDraft }: Scenario): string => {
  if (onDraft) return ", in the draft's layer; the check passes, and fewer tokens of the draft are accepted"
  return harmless ? '; the check passes all the same' : ''
}

const section = (scenario: Scenario): string => {
  const { name, title, fault, explanation, source, faults, shows, diagnosis, config } = scenario
  return [
    `## ${name}`,
    `**${title}.** ${explanation}`,
    [
      `- back-end \`${profileNamed(config.serving?.backend).name}\`, fault \`${fault}\`, seen in ${sourceText(source)}`,
      `- injected: \`${JSON.stringify(faults)}\``,
      `- differs from the fixed run in ${names(shows)}${passing(scenario)}`,
      diagnosis === null ? '- a diagnosis finds nothing wrong' : `- a diagnosis finds \`${diagnosis}\``,
    ].join('\n'),
  ].join('\n\n')
}

/** A configuration without a fault, in one process. */
const PLAIN = scenarioConfigs(lseBaseMismatch).fixed

/** docs/scenarios.md, from the registries. */
const page = (): string =>
  [
    '# Known failures and their scenarios',
    'Every scenario is a known failure of DCP decode on a small configuration. `dcpscope scenarios` lists them, and\n`dcpscope run --scenario NAME --out DIR` runs one broken into `DIR/broken.dcp` and fixed into `DIR/fixed.dcp`, on the real\nengine. The faulty run computes on from its fault as a serving engine would; nothing is altered afterwards. It exits with 1\nwhere the check of the broken run fails, which it should, with 0 where the fault is harmless, or costs accepted tokens of a\ndraft alone. A machine with a GPU computes both there where it can have the fault; elsewhere, and with `--device cpu`, the CPU\ndoes, and the tensors show the same.',
    'In the window **Scenarios** shows the same: what each is, where in a step it goes wrong, and both runs side by side, with their\nerror of every row and head, partials, events and merged vectors; *Diagnose broken* opens the broken one in Post-mortem.',
    'A configuration of your own names faults in [`faults`](config.md#faults), on ranks, layers and steps, several at once:',
    '```json\n{ "faults": [{ "fault": "coverage-gap", "ranks": [1], "steps": [3], "params": { "tokens": 2 } }] }\n```',
    table(
      ['fault', 'what goes wrong', 'acts at', 'GPU', 'parameters'],
      FAULTS.map(({ name, summary, injection }) => [
        `\`${name}\``,
        summary,
        injection === undefined ? 'not injected yet' : `\`${injection.point}\``,
        injection === undefined || injection.cpuOnly(PLAIN) !== undefined ? '' : 'yes',
        injection === undefined ? '' : parameters(injection),
      ]),
    ),
    ...SCENARIOS.map(section),
  ]
    .join('\n\n')
    .concat('\n')

test('docs/scenarios.md lists every fault and every scenario', async () => {
  await expect(page()).toMatchFileSnapshot('../../../docs/scenarios.md')
})
