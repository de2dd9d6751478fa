import { type Checked, checkProfile, type Reason } from '../../../app/backends/check.ts'
import { acceptedBy } from '../../../app/backends/features.ts'
import { profileNamed } from '../../../app/backends/index.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import { isRecord, issueText, merged, parseRunConfig } from '../../../app/run/parse.ts'

/** Without the keys whose value is null. */
const withoutNulls = (value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, part]) => (part === null ? [] : [[key, withoutNulls(part)]])),
      )
    : value

/** A configuration that the back-end accepts, with `over` on top of it; null takes a key out. */
export const configOf = (backend: string, over: unknown = {}): RunConfig => {
  const input = withoutNulls(merged(acceptedBy(profileNamed(backend)), over))
  const parsed = parseRunConfig(input)
  if (!parsed.ok) throw new Error(parsed.issues.map(issueText).join('; '))
  return parsed.config
}

export const judge = (backend: string, over: unknown = {}): Checked =>
  checkProfile(profileNamed(backend), configOf(backend, over))

export const reasonOf = (checked: Checked, rule: string): Reason | undefined =>
  checked.reasons.find((reason) => reason.rule === rule)
