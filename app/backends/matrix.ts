import type { RunConfig, RunConfigInput } from '../run/config.ts'
import { issueText, parseRunConfig } from '../run/parse.ts'
import { type Checked, checkProfile } from './check.ts'
import { acceptedBy, FEATURE_GROUPS, type Feature } from './features.ts'
import type { Verdict } from './guard.ts'
import { PROFILES } from './index.ts'
import type { Profile } from './profile.ts'

/** What one back-end says to one feature. */
export interface Cell {
  readonly profile: Profile
  readonly feature: Feature
  /** Configuration that was judged, and what came of it; null where the back-end has nothing of the kind. */
  readonly judged: { readonly config: RunConfigInput; readonly checked: Checked } | null
}

export interface MatrixRow {
  readonly feature: Feature
  /** One a profile, in the order of the profiles. */
  readonly cells: readonly Cell[]
}

export interface MatrixGroup {
  readonly title: string
  readonly rows: readonly MatrixRow[]
}

const whole = (input: RunConfigInput): RunConfig => {
  const parsed = parseRunConfig(input)
  if (!parsed.ok) throw new Error(`a feature is no configuration: ${parsed.issues.map(issueText).join('; ')}`)
  return parsed.config
}

const cellOf = (feature: Feature, profile: Profile): Cell => {
  const config = feature.change(acceptedBy(profile), profile)
  return {
    profile,
    feature,
    judged: config === null ? null : { config, checked: checkProfile(profile, whole(config)) },
  }
}

/** Every back-end against every feature, from the guards that also judge configurations. */
export const capabilityMatrix = (): MatrixGroup[] =>
  FEATURE_GROUPS.map(({ title, features }) => ({
    title,
    rows: features.map((feature) => ({
      feature,
      cells: PROFILES.map((profile) => cellOf(feature, profile)),
    })),
  }))

/** What every back-end says to a configuration, whichever it names. A kernel that another does not have is its default there. */
export const checkAll = (config: RunConfig): Checked[] =>
  PROFILES.map((profile) => {
    const { kernel, ...serving } = config.serving
    const has = kernel !== undefined && profile.kernels.includes(kernel)
    return checkProfile(profile, { ...config, serving: { ...serving, ...(has ? { kernel } : {}) } })
  })

export const verdictOf = ({ judged }: Cell): Verdict | null => judged?.checked.verdict ?? null
