import type { RunInfo } from '../../app/protocol/store.ts'
import { contextLens } from '../../app/run/engine-config.ts'
import { formatInt, formatNs } from '../drawing/format.ts'
import type { RunPhase } from '../state/run-state.ts'
import type { InspectorRow } from './Inspector.tsx'

/** An ISO time to the second, without letters. */
const clockText = (iso: string): string => iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')

/** What the inspector says of the open run; `phase` as the top bar has it. */
export const runRows = (
  { id, manifest, steps, ranks, startNs, endNs, captures }: RunInfo,
  phase: RunPhase,
): InspectorRow[] => {
  const { config, devices, versions, createdAt, endedAt, clock, summary } = manifest
  const contexts = contextLens(config)
  const captured = captures.map(({ step, layer }) => `${step}/${layer}`)
  return [
    { label: 'name', value: manifest.name },
    { label: 'status', value: phase },
    ...(manifest.error === undefined ? [] : [{ label: 'error', value: manifest.error }]),
    ...(config.model.preset === undefined ? [] : [{ label: 'model', value: config.model.preset }]),
    { label: 'ranks', value: String(ranks) },
    { label: 'transport', value: config.parallel.comm },
    { label: 'interleave', value: String(config.parallel.interleave), note: 'tokens' },
    { label: 'page size', value: String(config.cache.pageSize), note: 'tokens' },
    { label: 'kv type', value: config.cache.kvDtype },
    { label: 'requests', value: formatInt(contexts.length), copy: String(contexts.length) },
    { label: 'steps', value: formatInt(steps), copy: String(steps) },
    { label: 'traced time', value: formatNs(endNs - startNs), copy: `${endNs - startNs} ns` },
    ...(captured.length === 0 ? [] : [{ label: 'captures', value: captured.join(', '), note: 'step/layer' }]),
    ...(summary === undefined
      ? []
      : [
          { label: 'provenance', value: summary.provenance },
          { label: 'dropped', value: String(summary.dropped) },
        ]),
    ...devices.map(({ name, detail }) => ({ label: 'device', value: name, copy: `${name}, ${detail}` })),
    { label: 'created', value: clockText(createdAt), copy: createdAt, note: 'UTC' },
    ...(endedAt === undefined
      ? []
      : [{ label: 'ended', value: clockText(endedAt), copy: endedAt, note: 'UTC' }]),
    { label: 'clock', value: clock.alignment, copy: `${clock.alignment}; base ${clock.base}` },
    ...Object.entries(versions).map(([label, value]) => ({ label, value })),
    { label: 'run id', value: id },
  ]
}
