import { open } from 'node:fs/promises'
import { PRESET_NAMES, type PresetName, type RunConfig } from '../../app/run/config.ts'
import { isRecord, issueText, parseRunConfig } from '../../app/run/parse.ts'
import { unsupported } from '../../app/run/support.ts'
import { badInput, messageOf } from './failure.ts'
import { jsonProblem } from './json-problem.ts'

export interface ConfigSource {
  /** Path of a JSON file, `-` for standard input; undefined: nothing but the preset. */
  readonly file?: string | undefined
  readonly preset?: string | undefined
  readonly device?: string | undefined
  readonly ranks?: string | undefined
}

const MAX_CONFIG_BYTES = 1 << 20

/** The configuration to run, or one CliFailure that names every field at fault. */
export const readConfig = async (source: ConfigSource): Promise<RunConfig> => {
  const refuse = refusal(source)
  const preset = presetOf(source)
  const parsed = parseRunConfig(withEngine(await readJson(source), source), preset)
  if (!parsed.ok) throw refuse(parsed.issues.map(issueText).join('; '))
  const missing = unsupported(parsed.config)
  if (missing.length > 0) throw refuse(missing.map(issueText).join('; '))
  return parsed.config
}

/** Names the file in front of what is wrong with it. */
export const refusal =
  ({ file }: ConfigSource) =>
  (problems: string): Error => {
    const label = file === '-' ? 'standard input' : file
    return badInput(label === undefined ? problems : `${label}: ${problems}`)
  }

/** The preset that is named; `tiny` where there is no file either. */
export const presetOf = ({ file, preset = file === undefined ? 'tiny' : undefined }: ConfigSource) => {
  if (preset !== undefined && !isPreset(preset))
    throw badInput(`--preset: must be ${PRESET_NAMES.join(' or ')}, got ${JSON.stringify(preset)}`)
  return preset
}

/** What the file holds, an empty object where none is named. */
export const readJson = async (source: ConfigSource): Promise<unknown> => {
  const refuse = refusal(source)
  if (source.file === '') throw badInput('the configuration must be a file, or - for standard input')
  return source.file === undefined ? {} : parseJson(await readText(source.file, refuse), refuse)
}

const isPreset = (name: string): name is PresetName => PRESET_NAMES.some((known) => known === name)

/** What options say of the engine takes the place of what a run configuration says. */
export const withEngine = (
  given: unknown,
  { device, ranks }: Pick<ConfigSource, 'device' | 'ranks'>,
): unknown => {
  if (!isRecord(given) || (given.engine !== undefined && !isRecord(given.engine))) return given
  const asked = { ...(device === undefined ? {} : { device }), ...(ranks === undefined ? {} : { ranks }) }
  return Object.keys(asked).length === 0 ? given : { ...given, engine: { ...given.engine, ...asked } }
}

const readText = async (file: string, refuse: (problem: string) => Error): Promise<string> => {
  const bytes = file === '-' ? await readStdin(refuse) : await readFile(file, refuse)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse('is not UTF-8 text')
  }
}

const tooLarge = `is larger than the ${MAX_CONFIG_BYTES} bytes that a configuration may have`

const readFile = async (file: string, refuse: (problem: string) => Error): Promise<Uint8Array> => {
  try {
    const handle = await open(file, 'r')
    try {
      const buffer = new Uint8Array(MAX_CONFIG_BYTES + 1)
      let length = 0
      for (let read = 1; read > 0 && length < buffer.length; length += read)
        read = (await handle.read(buffer, length, buffer.length - length)).bytesRead
      if (length > MAX_CONFIG_BYTES) throw new Error(tooLarge)
      return buffer.subarray(0, length)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw refuse(readProblem(error))
  }
}

const readProblem = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'is a folder, not a configuration file'
  if (code === 'EACCES') return 'may not be read'
  return messageOf(error)
}

const readStdin = async (refuse: (problem: string) => Error): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    length += bytes.length
    if (length > MAX_CONFIG_BYTES) throw refuse(tooLarge)
  }
  return Buffer.concat(chunks)
}

const parseJson = (text: string, refuse: (problem: string) => Error): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw refuse(jsonProblem(text))
  }
}
