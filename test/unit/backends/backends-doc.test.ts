import { expect, test } from 'vitest'
import { FIXED_BY_BACKEND } from '../../../app/backends/apply.ts'
import { RULES } from '../../../app/backends/guard.ts'
import { PROFILES } from '../../../app/backends/index.ts'
import type { Profile } from '../../../app/backends/profile.ts'
import { SEMANTIC_ROWS, sourcesOf, VERDICT_WORDS } from '../../../app/backends/words.ts'

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const sourceText = (source: string): string => {
  const [repository, number] = source.split('#')
  return number === undefined
    ? `[${source}](${source.replace(/^docs\//, '')})`
    : `[${source}](https://github.com/${repository}/issues/${number})`
}

const guardRows = ({ guards }: Profile): string[][] =>
  guards.map(({ rule, verdict, path, reason, instead, lost, source }) => [
    `\`${rule}\``,
    VERDICT_WORDS[verdict],
    `\`${path}\``,
    reason,
    lost === undefined ? instead : `${instead}; **lost:** ${lost}`,
    sourceText(source),
  ])

const section = (profile: Profile): string =>
  [
    `## ${profile.name}`,
    `${profile.title}. Sources: ${sourcesOf(profile).map(sourceText).join(', ')}.${
      profile.kernels.length > 1 ? ` Kernels (\`serving.kernel\`): ${profile.kernels.join(', ')}.` : ''
    }`,
    table(
      ['semantics', ''],
      SEMANTIC_ROWS.map((row) => [row.title, row.long(profile)]),
    ),
    table(['rule', 'verdict', 'field', 'because', 'instead', 'source'], guardRows(profile)),
  ].join('\n\n')

/** docs/backends.md, from the profiles that `check`, the form and the matrix use. */
const page = (): string =>
  [
    '# Back-ends',
    'What serving engines accept, refuse, or replace in silence under decode context parallelism, and what their kernels\nand merges compute. `dcpscope check CONFIG.json` applies it, the form of the window too, and the view Back-ends shows\nall of it as one matrix. `serving.backend` of a configuration names one; without it, it is our own.',
    `A back-end fixes the base, type, layout and padding of the lse, rows without keys, the merge, and the type in flight:\n${FIXED_BY_BACKEND.map((field) => `\`${field}\``).join(', ')}.\nWhat a configuration says of them does not count. A run then has the numbers of that back-end, at the speed of our kernels.\nWhat the engine cannot compute exactly yet is refused by \`run\` in its own words: an lse whose base is unverified, padding\nrows of length 1 in graphs, and whatever a fallback computes elsewhere. Rules are applied to what a configuration says; what it leaves out\n(\`serving.arch\`, \`serving.versions\`) is not judged. Where nothing is known of a back-end, no rule speaks.`,
    `Rules: ${RULES.map((rule) => `\`${rule}\``).join(', ')}.`,
    ...PROFILES.map(section),
  ]
    .join('\n\n')
    .concat('\n')

test('docs/backends.md has the semantics and guards of every profile', async () => {
  await expect(page()).toMatchFileSnapshot('../../../docs/backends.md')
})
