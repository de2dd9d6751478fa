import type { z } from 'zod'
import {
  PRESET_NAMES,
  type PresetName,
  type RunConfig,
  type RunConfigInput,
  runConfigSchema,
} from './config.ts'
import { presetNamed } from './presets.ts'

/** One violated rule: `path` in the configuration (`parallel.dcpSize`), and what must hold. */
export interface ConfigIssue {
  readonly path: string
  readonly message: string
}

export type ParsedConfig = { ok: true; config: RunConfig } | { ok: false; issues: readonly ConfigIssue[] }

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )

const issueOf = (issue: z.core.$ZodIssue): ConfigIssue[] => {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), message: 'is not a known key' }))
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flat().map((e) => e.message.replace(/^Invalid [a-z]+: /, ''))
    return [{ path: pathText(issue.path), message: inner.join(', or ') || issue.message }]
  }
  return [{ path: pathText(issue.path), message: issue.message.replace(/^Invalid [a-z]+: /, '') }]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `over` on top of `base`; arrays and scalars replace, records merge. */
const merged = (base: unknown, over: unknown): unknown => {
  if (!isRecord(base) || !isRecord(over)) return over === undefined ? base : over
  const out: Record<string, unknown> = { ...base }
  for (const key of Object.keys(over)) {
    if (key === '__proto__') continue
    out[key] = merged(out[key], over[key])
  }
  return out
}

/** Heads that the kernel of one rank sees after the gather: heads * dcpSize / tpSize. */
export const kernelHeads = (config: RunConfig): number =>
  (config.model.heads * config.parallel.dcpSize) / config.parallel.tpSize

/** Rules between fields; the same list serves form, command line and engine. */
export const configRules = (config: RunConfig): ConfigIssue[] => {
  const { model, parallel, cache, workload, capture } = config
  const issues: ConfigIssue[] = []
  const rule = (holds: boolean, path: string, message: string): void => {
    if (!holds) issues.push({ path, message })
  }
  rule(
    parallel.tpSize % parallel.dcpSize === 0,
    'parallel.dcpSize',
    `must divide tpSize (${parallel.tpSize}), got ${parallel.dcpSize}`,
  )
  rule(
    model.heads % parallel.tpSize === 0,
    'model.heads',
    `must be divisible by tpSize (${parallel.tpSize}), got ${model.heads}`,
  )
  rule(
    parallel.mode === 'dcp' || parallel.dcpSize === 1,
    'parallel.dcpSize',
    `must be 1 in tp mode, got ${parallel.dcpSize}`,
  )
  rule(
    cache.pageSize % parallel.interleave === 0,
    'parallel.interleave',
    `must divide pageSize (${cache.pageSize}), got ${parallel.interleave}`,
  )
  if (issues.length === 0)
    rule(
      kernelHeads(config) <= 128,
      'model.heads',
      `heads * dcpSize / tpSize is at most 128 in one kernel, got ${kernelHeads(config)}`,
    )
  rule(
    (model.measuredLayers ?? 1) <= model.layers,
    'model.measuredLayers',
    `must be at most layers (${model.layers}), got ${model.measuredLayers}`,
  )
  rule(
    (workload.acceptedPerStep ?? 1) <= workload.qLen,
    'workload.acceptedPerStep',
    `must be at most qLen (${workload.qLen}), got ${workload.acceptedPerStep}`,
  )
  const measured = model.measuredLayers ?? model.layers
  capture.layers.forEach((layer, i) => {
    rule(
      layer < measured,
      `capture.layers[${i}]`,
      `must be below the measured layers (${measured}), got ${layer}`,
    )
  })
  if (Array.isArray(capture.steps))
    capture.steps.forEach((step, i) => {
      rule(
        step < workload.steps,
        `capture.steps[${i}]`,
        `must be below steps (${workload.steps}), got ${step}`,
      )
    })
  return issues
}

/**
 * Parses a configuration as a user wrote it: the preset (argument first, else `model.preset`) lies below
 * the given fields, defaults below both. Never throws on bad input.
 */
export const parseRunConfig = (input: unknown, preset?: PresetName): ParsedConfig => {
  if (!isRecord(input)) return { ok: false, issues: [{ path: '', message: 'expected an object' }] }
  const named = preset ?? (isRecord(input.model) ? input.model.preset : undefined)
  const base: RunConfigInput =
    typeof named === 'string' && (PRESET_NAMES as readonly string[]).includes(named)
      ? (merged(presetNamed(named as PresetName).config, { model: { preset: named } }) as RunConfigInput)
      : {}
  const parsed = runConfigSchema.safeParse(merged(base, input))
  if (!parsed.success) return { ok: false, issues: parsed.error.issues.flatMap(issueOf) }
  const issues = configRules(parsed.data)
  return issues.length > 0 ? { ok: false, issues } : { ok: true, config: parsed.data }
}

/** One line for a terminal: `parallel.dcpSize: must divide tpSize (6), got 4`. */
export const issueText = (issue: ConfigIssue): string =>
  issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`
