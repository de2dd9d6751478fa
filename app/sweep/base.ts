import type { RunConfig } from '../run/config.ts'
import { isRecord } from '../run/parse.ts'

/** What of a run configuration the base of a sweep is. */

/** Fields of a run that a list or a number of the sweep gives. */
export const VARIED: Readonly<Record<string, string>> = {
  'parallel.mode': 'mode',
  'parallel.dcpSize': 'dcp',
  'parallel.comm': 'comm',
  'cache.kvDtype': 'kvDtype',
  'cache.poolTokens': 'memory',
  'workload.requests': 'context and concurrency',
  'workload.qLen': 'qLen',
  'workload.steps': 'steps',
  'workload.warmup': 'warmup',
}

/** Fields of a run for which a sweep has no place, with what it does instead. */
export const ABSENT: Readonly<Record<string, string>> = {
  capture: 'a sweep keeps no tensors',
  check: 'a sweep compares nothing with the reference; check one point with "run"',
  'engine.rowStats': 'a sweep keeps no rows',
  'engine.observer': 'a sweep measures no tracing',
  'engine.kernelTrace': 'a sweep records no kernels',
  faults: 'a sweep injects no faults',
}

/** What every run of a sweep has: nothing beside spans and steps. */
export const LEAN = {
  parallel: { mode: 'tp', dcpSize: 1 },
  engine: { rowStats: false },
  check: { rows: 'none' },
  capture: { steps: 'none' },
}

/** Semantics of serving engines would change with the transport of a point. */
const OF_A_BACKEND = 'serving'

const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`)

/** Whether a field of a run, or a part of one, is the base's to say. */
export const isBaseField = (path: string): boolean =>
  ![...Object.keys(VARIED), ...Object.keys(ABSENT), OF_A_BACKEND].some((outer) => isWithin(path, outer))

const without = (value: unknown, path: string): unknown =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, own]) => {
          const place = path === '' ? key : `${path}.${key}`
          return isBaseField(place) ? [[key, without(own, place)]] : []
        }),
      )
    : value

/** A run configuration as the base of a sweep: without what a sweep gives, or has no place for. */
export const baseOf = (run: RunConfig): Record<string, unknown> => {
  const base = without(run, '')
  return isRecord(base) ? base : {}
}
