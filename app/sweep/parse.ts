import { BACKEND_NAMES } from '../backends/index.ts'
import { MAX_Q_LEN, type PresetName, type RunConfig } from '../run/config.ts'
import type { CudaInfo } from '../run/machine.ts'
import { type ConfigIssue, isRecord, issuesOf, merged, parseRunConfig, ruleText } from '../run/parse.ts'
import { unsupported, unsupportedInWindow } from '../run/support.ts'
import { ABSENT, LEAN, VARIED } from './base.ts'
import { MAX_POINTS, type SweepConfig, sweepConfigSchema } from './config.ts'
import { SWEEP_PRESETS } from './presets.ts'

export type ParsedSweep = { ok: true; config: SweepConfig } | { ok: false; issues: readonly ConfigIssue[] }

const given = (input: unknown, path: string): boolean => {
  let value = input
  for (const key of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return false
    value = value[key]
  }
  return true
}

const within = (issues: readonly ConfigIssue[]): ConfigIssue[] =>
  issues.map(({ path, message }) => ({ path: path === '' ? 'base' : `base.${path}`, message }))

const misplaced = (base: unknown): ConfigIssue[] => [
  ...Object.entries(VARIED).flatMap(([path, name]) =>
    given(base, path) ? [{ path: `base.${path}`, message: `is given by ${name} of the sweep` }] : [],
  ),
  ...Object.entries(ABSENT).flatMap(([path, instead]) =>
    given(base, path) ? [{ path: `base.${path}`, message: `has no place here: ${instead}` }] : [],
  ),
]

const isWithin = (path: string, outer: string): boolean =>
  path.startsWith(outer) && /^($|[.[])/.test(path.slice(outer.length))

/** Numbers that occur twice in a list would be measured twice. */
const repeated = (config: SweepConfig): ConfigIssue[] =>
  (['mode', 'dcp', 'comm', 'kvDtype', 'qLen', 'context', 'concurrency'] as const).flatMap((path) => {
    const values: readonly unknown[] = config[path]
    const twice = values.find((value, i) => values.indexOf(value) < i)
    return twice === undefined ? [] : [{ path, message: `must name every value once, got ${twice} twice` }]
  })

const tooMany = ({ mode, dcp, comm, kvDtype, qLen, context, concurrency }: SweepConfig): ConfigIssue[] => {
  const ranks = Number(mode.includes('tp')) + Number(mode.includes('dcp')) * dcp.length * comm.length
  const points = ranks * kvDtype.length * qLen.length * context.length * concurrency.length
  return points <= MAX_POINTS
    ? []
    : [{ path: '', message: `the lists must have at most ${MAX_POINTS} combinations, got ${points}` }]
}

/** A step accepts no more tokens than it queries, whichever query length a point has. */
const acceptedIssues = (base: RunConfig, { qLen }: SweepConfig): ConfigIssue[] => {
  const accepted = base.workload.acceptedPerStep
  const shortest = Math.min(...qLen)
  return accepted === undefined || accepted <= shortest
    ? []
    : [
        {
          path: 'base.workload.acceptedPerStep',
          message: `must be at most qLen (${shortest}), got ${accepted}`,
        },
      ]
}

/**
 * Parses a sweep as a user wrote it: the preset lies below the given fields, defaults below both. Issues of the base have
 * paths that begin with `base.`. Never throws on bad input.
 */
export const parseSweepConfig = (input: unknown, preset?: PresetName): ParsedSweep => {
  if (!isRecord(input)) return { ok: false, issues: [{ path: '', message: 'must be an object' }] }
  const found = misplaced(input.base)
  const whole = merged(preset === undefined ? {} : SWEEP_PRESETS[preset], input)
  const rest = isRecord(whole) ? whole : {}
  const base = parseBase(rest)
  const parsed = sweepConfigSchema.safeParse(
    { ...rest, base: base.ok ? base.config : {} },
    { error: ruleText },
  )
  const wrong = base.ok ? [] : within(base.issues)
  const issues = [
    ...found,
    // What has no place here may have any value.
    ...wrong.filter((issue) => !found.some(({ path }) => isWithin(issue.path, path))),
    ...(parsed.success ? [] : issuesOf(parsed.error)),
  ]
  if (!base.ok || !parsed.success || issues.length > 0) return { ok: false, issues }
  const rules = [
    ...within(unsupported(base.config)),
    ...within(backendIssues(base.config)),
    ...repeated(parsed.data),
    ...tooMany(parsed.data),
    ...acceptedIssues(base.config, parsed.data),
  ]
  return rules.length > 0 ? { ok: false, issues: rules } : { ok: true, config: parsed.data }
}

/** The same for a sweep that a window measures, on a machine with such GPUs. */
export const parseSweepInWindow = (input: unknown, cuda?: CudaInfo): ParsedSweep => {
  const parsed = parseSweepConfig(input)
  const issues = parsed.ok ? within(unsupportedInWindow(parsed.config.base, cuda)) : []
  return issues.length > 0 ? { ok: false, issues } : parsed
}

/** A sweep compares arrangements of our own engine; a back-end's semantics would change with the transport of a point. */
const backendIssues = ({ serving }: RunConfig): ConfigIssue[] =>
  serving.backend === undefined || serving.backend === BACKEND_NAMES[0]
    ? []
    : [{ path: 'serving.backend', message: 'has no place here: a sweep measures the engine itself' }]

/** The base as a run of its own, with lists as large as the smallest point needs. */
const parseBase = ({ base, qLen }: Record<string, unknown>): ReturnType<typeof parseRunConfig> => {
  if (base !== undefined && !isRecord(base))
    return { ok: false, issues: [{ path: '', message: 'must be an object' }] }
  // The run's own rule would compare with its default; the sweep compares with its list.
  const longest =
    Array.isArray(qLen) && qLen.every(Number.isInteger)
      ? { qLen: Math.min(MAX_Q_LEN, Math.max(1, ...qLen)) }
      : {}
  return parseRunConfig(merged(merged(base ?? {}, LEAN), { workload: longest }))
}
