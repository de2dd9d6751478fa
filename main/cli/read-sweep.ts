import { isRecord, issueText } from '../../app/run/parse.ts'
import type { SweepConfig } from '../../app/sweep/config.ts'
import { parseSweepConfig } from '../../app/sweep/parse.ts'
import { type ConfigSource, presetOf, readJson, refusal, withEngine } from './read-config.ts'

/** The configuration of a sweep, or one CliFailure that names every field at fault. */
export const readSweepConfig = async (source: ConfigSource): Promise<SweepConfig> => {
  const preset = presetOf(source)
  const parsed = parseSweepConfig(withBaseDevice(await readJson(source), source.device), preset)
  if (!parsed.ok) throw refusal(source)(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

const withBaseDevice = (given: unknown, device: string | undefined): unknown =>
  isRecord(given) && device !== undefined
    ? { ...given, base: withEngine(given.base ?? {}, { device }) }
    : given
