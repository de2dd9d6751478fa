import { checkConfig, type Reason } from '../../app/backends/check.ts'
import { BACKEND_NAMES, profileNamed } from '../../app/backends/index.ts'
import { SEMANTIC_ROWS, VERDICT_WORDS } from '../../app/backends/words.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { type ConfigIssue, isRecord, issueText, merged, parseRunConfig } from '../../app/run/parse.ts'
import { engineIssues } from '../../app/run/support.ts'
import { badInput, EXIT } from './failure.ts'
import { type ConfigSource, presetOf, readJson, refusal } from './read-config.ts'
import type { CommandResult } from './run-command.ts'
import { textTable } from './text-table.ts'

export interface CheckOptions extends Pick<ConfigSource, 'preset'> {
  readonly backend?: string
  readonly json?: boolean
}

/** What `check` prints: what the serving engine says of a configuration, and what keeps our engine from running it. */
export const checkCommand = async (
  file: string | undefined,
  { preset, backend, json }: CheckOptions,
): Promise<CommandResult> => {
  const config = await configOf({ file, preset }, backend)
  const { verdict, reasons, backend: name } = checkConfig(config)
  const engine = engineIssues(config)
  return {
    exitCode: verdict === 'refused' ? EXIT.no : EXIT.fine,
    stdout:
      json === true
        ? JSON.stringify({ backend: name, verdict, reasons, engine })
        : checkText(name, verdict, reasons, engine),
  }
}

const configOf = async (source: ConfigSource, backend: string | undefined): Promise<RunConfig> => {
  if (backend !== undefined && !BACKEND_NAMES.includes(backend))
    throw badInput(`--backend: must be ${BACKEND_NAMES.join(' or ')}, got ${JSON.stringify(backend)}`)
  const given = await readJson(source)
  const asked = backend !== undefined && isRecord(given) ? merged(given, { serving: { backend } }) : given
  const parsed = parseRunConfig(asked, presetOf(source))
  if (!parsed.ok) throw refusal(source)(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

const checkText = (
  name: string,
  verdict: keyof typeof VERDICT_WORDS,
  reasons: readonly Reason[],
  engine: readonly ConfigIssue[],
): string => {
  const profile = profileNamed(name)
  return [
    `${name} (${profile.title}): ${VERDICT_WORDS[verdict]}`,
    ...reasons.flatMap(reasonLines),
    '',
    textTable(
      ['semantics', ''],
      SEMANTIC_ROWS.map((row) => [row.title, row.long(profile)]),
    ),
    '',
    ...(verdict === 'refused' ? ['dcpscope run refuses this as well'] : []),
    ...engine.map((issue) => `dcpscope run cannot: ${issueText(issue)}`),
    ...(verdict !== 'refused' && engine.length === 0
      ? ['dcpscope run computes this with the semantics above']
      : []),
  ].join('\n')
}

const reasonLines = ({ rule, verdict, message, source, instead, lost }: Reason): string[] => [
  '',
  `  ${verdict}  ${rule}`,
  `    ${message}`,
  ...(lost === undefined ? [] : [`    lost: ${lost}`]),
  `    instead: ${instead}`,
  `    source: ${source}`,
]
