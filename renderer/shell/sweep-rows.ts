import type { RunInfo } from '../../app/protocol/store.ts'
import { formatInt } from '../drawing/format.ts'
import type { RunPhase } from '../state/run-state.ts'
import type { InspectorRow } from './Inspector.tsx'
import { caveatRows, madeRows } from './run-rows.ts'

/** What the inspector says of an open sweep; nothing of a bundle without one. */
export const sweepRows = ({ id, manifest }: RunInfo, phase: RunPhase): InspectorRow[] => {
  const { sweep, versions } = manifest
  if (sweep === undefined) return []
  const { config } = sweep
  const list = (label: string, values: readonly (string | number)[], note?: string): InspectorRow => ({
    label,
    value: values.map((value) => (typeof value === 'number' ? formatInt(value) : value)).join(', '),
    copy: values.join(', '),
    ...(note === undefined ? {} : { note }),
  })
  return [
    { label: 'name', value: manifest.name },
    { label: 'status', value: phase },
    ...(manifest.error === undefined ? [] : [{ label: 'error', value: manifest.error }]),
    ...caveatRows(manifest),
    ...(config.base.model.preset === undefined ? [] : [{ label: 'model', value: config.base.model.preset }]),
    { label: 'ranks', value: String(config.base.parallel.tpSize), note: 'of the TP group' },
    list('modes', config.mode),
    list('dcp', config.dcp),
    list('transport', config.comm),
    list('kv type', config.kvDtype),
    list('q_len', config.qLen),
    list('context', config.context, 'tokens'),
    list('concurrency', config.concurrency),
    { label: 'repeats', value: String(config.repeats) },
    { label: 'steps', value: formatInt(config.steps), note: `after ${config.warmup} of warm-up` },
    ...madeRows(manifest),
    ...Object.entries(versions).map(([label, value]) => ({ label, value })),
    { label: 'run id', value: id },
  ]
}
