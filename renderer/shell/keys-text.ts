import { VIEW_IDS, VIEW_TITLES } from '../state/view.ts'
import { ACTIONS } from './actions.ts'
import { keyText } from './keys.ts'
import { VIEW_KEYS } from './view-keys.ts'

const row = (keys: readonly string[], title: string): string =>
  `| ${keys.map((key) => `\`${key}\``).join(' ')} | ${title} |`

const table = (rows: readonly string[]): string =>
  ['| keys | what they do |', '| --- | --- |', ...rows].join('\n')

/** docs/keys.md, from the tables that the window works with. */
export const keysPage = (): string => {
  const views = VIEW_IDS.filter((view) => VIEW_KEYS[view].length > 0).map(
    (view) =>
      `## ${VIEW_TITLES[view]}\n\n${table(VIEW_KEYS[view].map((key) => row(key.keys.split(' '), key.title)))}`,
  )
  return [
    '# Keys',
    'Letters and digits are meant by their place on the keyboard. Plain keys act while no field is edited.',
    `## Everywhere\n\n${table(ACTIONS.filter(({ keys }) => keys.length > 0).map(({ keys, title }) => row(keys.map(keyText), title)))}`,
    ...views,
  ]
    .join('\n\n')
    .concat('\n')
}
