import type { RunConfigInput } from '../../../app/run/config.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import type { Store } from '../../../main/store/store.ts'
import {
  fakeEngine,
  rowChunk,
  type SampleSpan,
  sampleConfig,
  sampleManifest,
  spanChunk,
  stepChunk,
} from './sample.ts'

export const RANKS = 2
const LAYERS = 2
const REQUESTS = 3

/** What a test makes of a run whose numbers it knows. */
export interface ComparedRun {
  readonly name: string
  readonly config?: RunConfigInput
  readonly manifest?: Partial<Manifest>
  readonly steps?: number
  /** Time of attention in a layer, ns. */
  readonly attention?: (step: number, rank: number) => number
  /** Largest lse of a row with keys. */
  readonly lse?: (step: number, layer: number, rank: number, request: number) => number
  /** Largest relative error of a step. */
  readonly error?: (step: number) => number
}

/** A number of a step that looks like noise, 0 to 1. */
export const noise = (n: number): number => Math.abs(Math.sin(n * 12.9898) * 43758.5453) % 1

const spansOf = (
  rank: number,
  steps: number,
  attention: (step: number, rank: number) => number,
): SampleSpan[] =>
  Array.from({ length: steps * LAYERS }, (_, i) => [Math.floor(i / LAYERS), i % LAYERS] as const).flatMap(
    ([step, layer]): SampleSpan[] => {
      const start = step * 1_000_000 + layer * 400_000
      const stage = (name: Stage): number => STAGES.indexOf(name)
      const attended = Math.round(attention(step, rank))
      return [
        { start, dur: 3000, stage: stage('kv_append'), step, layer },
        { start: start + 3000, dur: attended, stage: stage('decode_attn'), step, layer },
        {
          start: start + 3000 + attended,
          dur: 9000,
          stage: stage('lse_all_gather'),
          step,
          layer,
          collective: step * LAYERS + layer,
        },
      ]
    },
  )

/** Writes the bundle of such a run into `folder`, whole and closed. */
export const writeComparedRun = async (
  store: Store,
  folder: string,
  {
    name,
    config = {},
    manifest = {},
    steps = 24,
    attention = (step, rank) => 50_000 + 1000 * noise(step * RANKS + rank),
    lse = () => 3,
    error = () => 1e-3,
  }: ComparedRun,
): Promise<void> => {
  const engine = fakeEngine(name)
  store.attachEngine(engine.storeEnd)
  engine.begin(folder, { ...sampleManifest(sampleConfig(config)), ...manifest, name })
  for (let rank = 0; rank < RANKS; rank++) engine.chunk(spanChunk(rank, spansOf(rank, steps, attention)))
  for (let step = 0; step < steps; step++)
    for (let layer = 0; layer < LAYERS; layer++)
      for (let rank = 0; rank < RANKS; rank++) {
        const chunk = rowChunk(rank, step, layer, REQUESTS)
        const values = Float32Array.from({ length: REQUESTS }, (_, request) =>
          lse(step, layer, rank, request),
        )
        engine.chunk({ ...chunk, columns: { ...chunk.columns, lse_min: values, lse_max: values } })
      }
  engine.chunk(stepChunk(0, steps, error))
  engine.end()
  const failed = engine.reply('failed').then(({ error: why }) => {
    throw new Error(why)
  })
  await Promise.race([engine.reply('closed'), failed])
}
