import { msPerToken } from '../../../app/sweep/front.ts'
import { arrangementName } from '../../../app/sweep/spots.ts'
import { LIMIT_WORDS } from '../../../app/sweep/words.ts'
import type { Caveats } from '../../../app/trace/caveat.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { formatFloat, formatInt, formatMs, formatRate } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import type { CellRow } from './model.ts'
import { spotSource } from './source.ts'
import { gainText, spreadText } from './words.ts'

const exactMs = (label: string, value: number, source: string | undefined, note?: string): InspectorRow => ({
  label,
  value: Number.isNaN(value) ? '–' : formatMs(value),
  copy: `${value} ms`,
  ...(note === undefined ? {} : { note }),
  source,
})

/** Everything that is known of one point. */
export const pointRows = ({ spot, predicted, gain }: CellRow, manifest: Caveats): InspectorRow[] => {
  const source = spotSource(spot, manifest)
  const rate = (label: string, value: number): InspectorRow => ({
    label,
    value: formatRate(value),
    copy: String(value),
    note: 'tokens/s',
    source,
  })
  const [first] = spot.rows
  return [
    { label: 'point', value: spot.key },
    { label: 'arrangement', value: arrangementName(spot) },
    { label: 'context', value: formatInt(spot.context), copy: String(spot.context), note: 'tokens' },
    { label: 'concurrency', value: formatInt(spot.concurrency), copy: String(spot.concurrency) },
    rate('throughput', spot.tokensPerSecond),
    ...(spot.kind === 'measured'
      ? spot.rows.map((row) => rate(`repeat ${row.repeat}`, row.tokensPerSecond))
      : []),
    ...(spot.interval === null
      ? []
      : [
          {
            label: '95% interval',
            value: spreadText(...spot.interval),
            copy: spot.interval.join(' '),
            note: 'tokens/s',
            source,
          },
        ]),
    exactMs('time a token', msPerToken(spot), source, 'a user'),
    ...(gain === null ? [] : [{ label: 'over tp', value: gainText(gain), copy: String(gain), source }]),
    exactMs('step p50', spot.stepMs, source),
    ...(Number.isNaN(spot.stepMsP95) ? [] : [exactMs('step p95', spot.stepMsP95, source)]),
    exactMs('attention', spot.attnMs, source, 'a rank'),
    exactMs('transfer', spot.commMs, source, 'a rank'),
    exactMs('waiting', spot.waitMs, source, 'a rank'),
    ...(predicted === null
      ? []
      : [
          exactMs('predicted step', predicted.stepMs, 'predicted'),
          {
            label: 'predicted',
            value: formatRate(predicted.tokensPerSecond),
            copy: String(predicted.tokensPerSecond),
            note: 'tokens/s',
            source: 'predicted',
          },
          {
            label: 'over measured',
            value: formatFloat(predicted.stepMs / spot.stepMs, 3),
            copy: String(predicted.stepMs / spot.stepMs),
            note: 'step',
            source: 'predicted',
          },
        ]),
    ...(spot.limit === ''
      ? []
      : [{ label: 'limited by', value: LIMIT_WORDS[spot.limit], source: 'predicted' }]),
    { label: 'requests at once', value: formatInt(spot.batch), copy: String(spot.batch) },
    {
      label: 'kv capacity',
      value: formatInt(spot.capacityTokens),
      copy: String(spot.capacityTokens),
      note: spot.capacityLimited ? 'tokens, holds fewer than asked for' : 'tokens',
    },
    ...(first === undefined || first.layersMeasured < 0
      ? []
      : [{ label: 'layers', value: String(first.layersMeasured), note: 'computed' }]),
    ...(first === undefined || first.transport === 'local'
      ? []
      : [{ label: 'exchange by', value: first.transport === 'table' ? 'timings given' : 'a model of NCCL' }]),
    { label: 'provenance', value: spot.provenances.join(', ') },
  ]
}

/** Puts the point that is looked at into the inspector. */
export const useThroughputInspector = (row: CellRow | null, manifest: Manifest): void =>
  useInspector(
    {
      view: 'throughput',
      title: 'Point',
      rows: row === null ? null : pointRows(row, manifest),
      about: ['context', 'concurrency'],
    },
    [row?.spot, row?.predicted, manifest],
  )
