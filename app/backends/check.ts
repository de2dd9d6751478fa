import type { RunConfig } from '../run/config.ts'
import type { ConfigIssue } from '../run/parse.ts'
import { factsOf } from './facts.ts'
import { type Guard, type Rule, VERDICTS, type Verdict } from './guard.ts'
import { profileNamed } from './index.ts'
import type { Profile } from './profile.ts'

/** One thing that a serving engine says of a configuration. */
export interface Reason {
  readonly rule: Rule
  readonly verdict: Verdict
  readonly message: string
  readonly source: string
  readonly instead: string
  /** Of a fallback. */
  readonly lost?: string
  /** Field of the configuration that is judged. */
  readonly path: string
}

export interface Checked {
  readonly backend: string
  /** The worst of the reasons; accepted where there are none. */
  readonly verdict: Verdict
  /** Worst first. */
  readonly reasons: readonly Reason[]
}

export const worse = (a: Verdict, b: Verdict): number => VERDICTS.indexOf(b) - VERDICTS.indexOf(a)

export const worstOf = (reasons: readonly Pick<Reason, 'verdict'>[]): Verdict =>
  reasons.map(({ verdict }) => verdict).sort(worse)[0] ?? 'accepted'

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The guards of a profile that have something to say of a configuration, worst first. */
export const guardsFor = (profile: Profile, config: RunConfig): { guard: Guard; found: string }[] => {
  const facts = factsOf(config, profile)
  return profile.guards
    .filter((guard) => guard.applies(facts))
    .map((guard) => ({ guard, found: guard.found?.(facts) ?? '' }))
    .sort((a, b) => worse(a.guard.verdict, b.guard.verdict))
}

/** What the serving engine of a back-end accepts, refuses or replaces of a configuration. */
export const checkProfile = (profile: Profile, config: RunConfig): Checked => {
  const reasons = guardsFor(profile, config).map(({ guard, found }): Reason => {
    const { rule, verdict, reason, source, instead, lost, path } = guard
    const message = `${capital(reason)}${found === '' ? '' : ` (${found})`}.`
    return { rule, verdict, message, source, instead, ...(lost === undefined ? {} : { lost }), path }
  })
  return { backend: profile.name, verdict: worstOf(reasons), reasons }
}

/** The same for the back-end that the configuration names. */
export const checkConfig = (config: RunConfig): Checked =>
  checkProfile(profileNamed(config.serving.backend), config)

/** What a serving engine refuses, as issues of the configuration. Our own engine says in its own words what it refuses. */
export const refusals = (config: RunConfig): ConfigIssue[] => {
  const profile = profileNamed(config.serving.backend)
  if (profile.framework === 'dcpscope') return []
  return guardsFor(profile, config)
    .filter(({ guard }) => guard.verdict === 'refused')
    .map(({ guard, found }) => ({
      path: guard.path,
      message: `${profile.name} refuses this (${guard.rule}): ${guard.reason}${found === '' ? '' : ` (${found})`}; ${guard.instead}`,
    }))
}
