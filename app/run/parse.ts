import type { z } from 'zod'
import { withBackend } from '../backends/apply.ts'
import { profileNamed } from '../backends/index.ts'
import { faultIssues } from '../faults/check.ts'
import { hasDraft, isDraftLayer } from './branch.ts'
import {
  MAX_HEADS,
  MAX_REQUESTS,
  PRESET_NAMES,
  type PresetName,
  type RunConfig,
  type RunConfigInput,
  runConfigSchema,
} from './config.ts'
import { PRESETS, presetNamed } from './presets.ts'
import { kernelHeads, measuredLayers } from './shape.ts'

/** One violated rule: `path` in the configuration (`parallel.dcpSize`), and what must hold. */
export interface ConfigIssue {
  readonly path: string
  readonly message: string
}

export type ParsedConfig = { ok: true; config: RunConfig } | { ok: false; issues: readonly ConfigIssue[] }

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : `${text}${text === '' ? '' : '.'}${keyText(String(part))}`,
    '',
  )

/** A key that is none of ours may be anything: empty, with control characters, of a megabyte. */
const keyText = (key: string): string => (/^[\w-]{1,60}$/.test(key) ? key : shown(key))

const shown = (value: unknown): string => {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? 'a list'
        : typeof value === 'object' && value !== null
          ? 'an object'
          : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

const article = (expected: string): string =>
  ({
    int: 'a whole number',
    number: 'a number',
    string: 'text',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    record: 'an object',
  })[expected] ?? expected

const ITEMS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  array: ['entry', 'entries'],
  string: ['character', 'characters'],
}

/** A bound on a number, or on how much a list or a text has. */
const boundText = (origin: string, bound: string, limit: number | bigint, got: string): string => {
  const items = ITEMS[origin]
  if (items === undefined) return `must be ${bound} ${limit}${got}`
  return `must have ${bound} ${limit} ${items[Number(limit) === 1 ? 0 : 1]}`
}

/** The rule that an issue breaks, in the words of every message: `must be at least 1, got 0`. */
export const ruleText: z.core.$ZodErrorMap = (issue) => {
  const got = `, got ${shown(issue.input)}`
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}${issue.input === undefined ? '' : got}`
    case 'too_small':
      return boundText(issue.origin, issue.inclusive === false ? 'above' : 'at least', issue.minimum, got)
    case 'too_big':
      return boundText(issue.origin, issue.inclusive === false ? 'below' : 'at most', issue.maximum, got)
    case 'invalid_value':
      return `must be ${issue.values.map((v) => String(v)).join(' or ')}${issue.input === undefined ? '' : got}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}${got}`
    case 'unrecognized_keys':
      return 'is not a known key'
    default:
      return undefined
  }
}

const issueOf = (issue: z.core.$ZodIssue): ConfigIssue[] => {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), message: 'is not a known key' }))
  if (issue.code === 'invalid_union') {
    const inside = issue.errors.find(([first]) => first !== undefined && first.path.length > 0)
    return (
      inside?.flatMap((within) => issueOf({ ...within, path: [...issue.path, ...within.path] })) ?? [
        { path: pathText(issue.path), message: unionText(issue.errors) },
      ]
    )
  }
  return [{ path: pathText(issue.path), message: issue.message }]
}

/** Every violated rule of a failed parse, in the order of the schema. */
export const issuesOf = (error: z.ZodError): ConfigIssue[] =>
  error.issues.filter((issue, i, all) => !isWider(issue, all[i + 1])).flatMap(issueOf)

/** Whether `next` sets a narrower bound for the same value: a whole number has those of exact integers besides its own. */
const isWider = (issue: z.core.$ZodIssue, next: z.core.$ZodIssue | undefined): boolean =>
  (issue.code === 'too_big' || issue.code === 'too_small') &&
  issue.code === next?.code &&
  pathText(issue.path) === pathText(next.path)

/** The alternatives of a union in one sentence; the branch that nearly matched speaks alone. A list with wrong entries is
 * no such case: they are named one by one. */
const unionText = (branches: readonly (readonly z.core.$ZodIssue[])[]): string => {
  const near = branches.find((issues) =>
    issues.every((i) => i.code !== 'invalid_type' && i.code !== 'invalid_value'),
  )
  if (near?.[0] !== undefined) return near[0].message
  const texts = branches.flatMap((issues) => issues.slice(0, 1).map((i) => i.message))
  const got = /, got .*$/.exec(texts[0] ?? '')?.[0] ?? ''
  return `${texts
    .map((t) => t.replace(/, got .*$/, ''))
    .join(', or ')
    .replaceAll(', or must be ', ' or ')}${got}`
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `over` on top of `base`; arrays and scalars replace, records merge. */
export const merged = (base: unknown, over: unknown): unknown => {
  if (!isRecord(base) || !isRecord(over)) return over === undefined ? base : over
  // A Map, so that a key named __proto__ stays a key and is refused like any other unknown one.
  const out = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) out.set(key, merged(out.get(key), value))
  return Object.fromEntries(out)
}

const MODEL_PRESETS = PRESETS.filter(({ weights }) => weights !== undefined).map(({ name }) => name)

/** Rules of grouped-query attention. */
const kvHeadRules = (config: RunConfig): ConfigIssue[] => {
  const { model, parallel } = config
  const { kvHeads, headDim } = model
  if (kvHeads === undefined)
    return headDim === undefined
      ? []
      : [{ path: 'model.headDim', message: 'goes with model.kvHeads, MLA has none' }]
  const share = (kvHeads * parallel.dcpSize) / parallel.tpSize
  const rules: [holds: boolean, path: string, message: string][] = [
    [headDim !== undefined, 'model.headDim', 'must be given with model.kvHeads'],
    [model.heads % kvHeads === 0, 'model.kvHeads', `must divide heads (${model.heads}), got ${kvHeads}`],
    [
      Number.isInteger(share) || Number.isInteger(1 / share),
      'model.kvHeads',
      `kvHeads * dcpSize / tpSize must be a whole number or 1 by one, got ${share}`,
    ],
  ]
  return rules.flatMap(([holds, path, message]) => (holds ? [] : [{ path, message }]))
}

/** Rules between fields; the same list serves form, command line and engine. */
export const configRules = (config: RunConfig): ConfigIssue[] => {
  const { model, parallel, cache, workload, engine, serving, capture } = config
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
      kernelHeads(config) <= MAX_HEADS,
      'model.heads',
      `heads * dcpSize / tpSize must be at most ${MAX_HEADS}, got ${kernelHeads(config)}`,
    )
  issues.push(...kvHeadRules(config))
  rule(
    engine.paddedHeads === 0 || engine.paddedHeads >= kernelHeads(config),
    'engine.paddedHeads',
    `must be 0, or at least heads * dcpSize / tpSize (${kernelHeads(config)}), got ${engine.paddedHeads}`,
  )
  rule(
    parallel.comm !== 'p2p' || parallel.wireDtype === 'out',
    'parallel.wireDtype',
    'must be out with p2p, which merges partials where they lie, got fp32',
  )
  rule(
    cache.kvDtype !== 'fp8_ds_mla' || (model.kvLoraRank === 512 && model.ropeDim === 64),
    'cache.kvDtype',
    `fp8_ds_mla needs kvLoraRank 512 and ropeDim 64, got ${model.kvLoraRank} and ${model.ropeDim}`,
  )
  const { name, kernels } = profileNamed(serving.backend)
  rule(
    kernels.length === 0 || serving.kernel === undefined || kernels.includes(serving.kernel),
    'serving.kernel',
    `must be ${kernels.join(' or ')} with ${name}, got ${shown(serving.kernel)}`,
  )
  rule(
    engine.restOfLayer !== 'model' ||
      (model.preset !== undefined &&
        presetNamed(model.preset).weights !== undefined &&
        model.kvHeads === undefined),
    'engine.restOfLayer',
    `model needs model.preset to be ${MODEL_PRESETS.join(' or ')}, and no model.kvHeads`,
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
  const requests = workload.requests.reduce((sum, group) => sum + group.count, 0)
  rule(
    requests <= MAX_REQUESTS,
    'workload.requests',
    `must be at most ${MAX_REQUESTS} requests together, got ${requests}`,
  )
  const measured = measuredLayers(config)
  capture.layers.forEach((layer, i) => {
    rule(
      layer < measured || isDraftLayer(config, layer),
      `capture.layers[${i}]`,
      `must be below the measured layers (${measured})${hasDraft(config) ? ', or that number for the draft' : ''}, got ${layer}`,
    )
  })
  const withinRun = (steps: RunConfig['capture']['steps'], path: string): void => {
    if (Array.isArray(steps))
      steps.forEach((step, i) => {
        rule(step < workload.steps, `${path}[${i}]`, `must be below steps (${workload.steps}), got ${step}`)
      })
  }
  withinRun(engine.kernelTrace, 'engine.kernelTrace')
  withinRun(capture.steps, 'capture.steps')
  return issues
}

/**
 * Parses a configuration as a user wrote it: the preset (argument first, else `model.preset`) lies below
 * the given fields, defaults below both; what a back-end fixes lies above them. Never throws on bad input.
 */
export const parseRunConfig = (input: unknown, preset?: PresetName): ParsedConfig => {
  if (!isRecord(input)) return { ok: false, issues: [{ path: '', message: 'must be an object' }] }
  const named = preset ?? (isRecord(input.model) ? input.model.preset : undefined)
  const base: RunConfigInput =
    typeof named === 'string' && (PRESET_NAMES as readonly string[]).includes(named)
      ? (merged(presetNamed(named as PresetName).config, { model: { preset: named } }) as RunConfigInput)
      : {}
  const parsed = runConfigSchema.safeParse(merged(base, input), { error: ruleText })
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) }
  const config = withBackend(parsed.data)
  const issues = [...configRules(config), ...faultIssues(config)]
  return issues.length > 0 ? { ok: false, issues } : { ok: true, config }
}

/** One line for a terminal: `parallel.dcpSize: must divide tpSize (6), got 4`. */
export const issueText = (issue: ConfigIssue): string =>
  issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`
