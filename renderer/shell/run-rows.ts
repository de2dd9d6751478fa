import type { RunInfo } from '../../app/protocol/store.ts'
import { contextLens } from '../../app/run/engine-config.ts'
import { restOfLayer } from '../../app/run/rest-of-layer.ts'
import { measuredLayers } from '../../app/run/shape.ts'
import { type Caveats, caveatOf } from '../../app/trace/caveat.ts'
import type { Manifest, RunSummary } from '../../app/trace/manifest.ts'
import { countedDevices } from '../drawing/counted-devices.ts'
import { formatBytes, formatInt, formatMs, formatNs, formatRate } from '../drawing/format.ts'
import { observerShare, observerText } from '../drawing/observer.ts'
import { placedSource, stepNote } from '../drawing/provenance.ts'
import type { RunPhase } from '../state/run-state.ts'
import type { InspectorRow } from './Inspector.tsx'
import { draftRows } from './use-step-rows.ts'

/** An ISO time to the second, without letters. */
export const clockText = (iso: string): string => iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')

/** On what and when a bundle was made. */
export const madeRows = ({
  devices,
  createdAt,
  endedAt,
}: Pick<Manifest, 'devices' | 'createdAt' | 'endedAt'>): InspectorRow[] => [
  ...countedDevices(devices).map(({ name, detail }) => ({
    label: 'device',
    value: name,
    copy: `${name}, ${detail}`,
    note: detail,
  })),
  { label: 'created', value: clockText(createdAt), copy: createdAt, note: 'UTC' },
  ...(endedAt === undefined
    ? []
    : [{ label: 'ended', value: clockText(endedAt), copy: endedAt, note: 'UTC' }]),
]

/** What of a bundle is not what it looks like. */
export const caveatRows = (manifest: Caveats): InspectorRow[] => {
  const caveat = caveatOf(manifest)
  return caveat === undefined ? [] : [{ label: caveat.source, value: caveat.text }]
}

const msRow = (label: string, ms: number, source: string | undefined, note?: string): InspectorRow => ({
  label,
  value: formatMs(ms),
  copy: `${ms} ms`,
  ...(note === undefined ? {} : { note }),
  source,
})

/** The numbers of an ended run with what they come from. */
const summaryRows = (
  manifest: Manifest,
  { tokensPerSecond, stepMs, deviceStepMs, observerCost, kernelTrace, draft, ...rest }: RunSummary,
): InspectorRow[] => {
  const source = stepNote(rest.provenance, manifest)
  return [
    {
      label: 'throughput',
      value: formatRate(tokensPerSecond),
      copy: String(tokensPerSecond),
      note: 'tokens/s',
      source,
    },
    msRow('step p50', stepMs.p50, source),
    msRow('step p95', stepMs.p95, source),
    ...(deviceStepMs === undefined
      ? []
      : [
          msRow('device p50', deviceStepMs.p50, undefined, 'for all ranks'),
          msRow('device p95', deviceStepMs.p95, undefined, 'for all ranks'),
        ]),
    ...(observerCost === undefined
      ? []
      : [
          {
            label: 'observer cost',
            value: observerText(observerCost),
            copy: String(observerShare(observerCost)),
            note: 'of an untraced step',
          },
        ]),
    ...(kernelTrace === undefined
      ? []
      : [
          {
            label: 'kernels',
            value: formatInt(kernelTrace.kernels),
            copy: String(kernelTrace.kernels),
            note: `${kernelTrace.steps} ${kernelTrace.steps === 1 ? 'step' : 'steps'}, ${kernelTrace.counted ? 'the only ones' : 'not counted above'}`,
          },
          msRow('device with CUPTI', kernelTrace.recordedUs / 1000, undefined, 'median'),
        ]),
    ...(draft === undefined ? [] : draftRows(draft)),
  ]
}

/** What the inspector says of the open run; `phase` as the top bar has it. */
export const runRows = (
  { id, manifest, steps, ranks, startNs, endNs, captures }: RunInfo,
  phase: RunPhase,
): InspectorRow[] => {
  const { config, versions, clock, summary } = manifest
  const contexts = contextLens(config)
  const restBytes = restOfLayer(config).bytes
  const captured = captures.map(({ step, layer }) => `${step}/${layer}`)
  return [
    { label: 'name', value: manifest.name },
    { label: 'status', value: phase },
    ...(manifest.error === undefined ? [] : [{ label: 'error', value: manifest.error }]),
    ...caveatRows(manifest),
    ...(manifest.kernelNote === undefined ? [] : [{ label: 'kernels missing', value: manifest.kernelNote }]),
    ...(config.model.preset === undefined ? [] : [{ label: 'model', value: config.model.preset }]),
    { label: 'ranks', value: String(ranks) },
    { label: 'transport', value: config.parallel.comm },
    { label: 'interleave', value: String(config.parallel.interleave), note: 'tokens' },
    { label: 'page size', value: String(config.cache.pageSize), note: 'tokens' },
    { label: 'kv type', value: config.cache.kvDtype },
    ...(config.workload.topk === undefined
      ? []
      : [
          {
            label: 'top-k',
            value: formatInt(config.workload.topk),
            copy: String(config.workload.topk),
            note: 'keys',
          },
        ]),
    ...(config.serving.draft === undefined
      ? []
      : [{ label: 'draft', value: config.serving.draft, note: `layer ${measuredLayers(config)}` }]),
    ...(restBytes === 0
      ? []
      : [{ label: 'rest of layer', value: formatBytes(restBytes), copy: String(restBytes), note: 'a rank' }]),
    { label: 'requests', value: formatInt(contexts.length), copy: String(contexts.length) },
    { label: 'steps', value: formatInt(steps), copy: String(steps) },
    {
      label: 'traced time',
      value: formatNs(endNs - startNs),
      copy: `${endNs - startNs} ns`,
      source: placedSource(manifest),
    },
    ...(captured.length === 0 ? [] : [{ label: 'captures', value: captured.join(', '), note: 'step/layer' }]),
    ...(summary === undefined
      ? []
      : [
          ...summaryRows(manifest, summary),
          { label: 'provenance', value: summary.provenance },
          { label: 'dropped', value: String(summary.dropped) },
        ]),
    ...madeRows(manifest),
    { label: 'clock', value: clock.alignment, copy: `${clock.alignment}; base ${clock.base}` },
    ...Object.entries(versions).map(([label, value]) => ({ label, value })),
    { label: 'run id', value: id },
  ]
}
