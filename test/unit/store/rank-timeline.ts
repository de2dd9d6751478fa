import { STAGES, type Stage } from '../../../app/trace/stages.ts'
import type { SampleSpan } from './sample.ts'

/** A stage of a layer: what it takes on a rank, ns; of a collective the transfer, once the last rank has entered. */
export interface LayerStage {
  readonly stage: Stage
  readonly durNs: (rank: number, step: number, layer: number) => number
  readonly collective?: boolean
}

interface Shape {
  readonly ranks: number
  readonly steps: number
  readonly layers: number
  readonly stages: readonly LayerStage[]
  /** From the end of the last rank to the next step. */
  readonly pauseNs?: number
  /** Each step is the replay of a graph, which contains its spans. */
  readonly graph?: boolean
}

export interface RankTimeline {
  /** Spans by rank. */
  readonly spans: readonly (readonly SampleSpan[])[]
  /** Start and end of the steps. */
  readonly steps: readonly { readonly startNs: number; readonly endNs: number }[]
}

/** What ranks do that run the stages of their layers one after the other and wait for each other in collectives. */
export const rankTimeline = ({ ranks, steps, layers, stages, pauseNs = 0, graph }: Shape): RankTimeline => {
  const spans = Array.from({ length: ranks }, (): SampleSpan[] => [])
  const borders: { startNs: number; endNs: number }[] = []
  const now = new Array<number>(ranks).fill(0)
  let collective = 0
  for (let step = 0; step < steps; step++) {
    const startNs = Math.max(...now)
    now.fill(startNs)
    for (let layer = 0; layer < layers; layer++)
      for (const { stage, durNs, collective: meets } of stages) {
        const lastEnter = Math.max(...now)
        for (let rank = 0; rank < ranks; rank++) {
          const start = now[rank] ?? 0
          const end = (meets === true ? lastEnter : start) + durNs(rank, step, layer)
          const code = STAGES.indexOf(stage)
          spans[rank]?.push({
            start,
            dur: end - start,
            stage: code,
            step,
            layer,
            ...(meets === true ? { collective, lastEnter } : {}),
          })
          now[rank] = end
        }
        if (meets === true) collective++
      }
    if (graph === true)
      for (let rank = 0; rank < ranks; rank++)
        spans[rank]?.push({
          start: startNs,
          dur: (now[rank] ?? 0) - startNs,
          stage: STAGES.indexOf('graph_replay'),
          step,
          layer: -1,
        })
    borders.push({ startNs, endNs: Math.max(...now) })
    for (let rank = 0; rank < ranks; rank++) now[rank] = Math.max(...now) + pauseNs
  }
  return { spans, steps: borders }
}

/** The rank whose attention takes longer, and what it takes then and elsewhere, ns. */
export const SLOW = { rank: 2, slowNs: 70_000, plainNs: 40_000 } as const

/** Four ranks, of which one is slow in its attention. */
export const slowRank = (more: Partial<Shape> = {}): RankTimeline =>
  rankTimeline({
    ranks: 4,
    steps: 20,
    layers: 2,
    pauseNs: 5_000,
    stages: [
      { stage: 'q_all_gather', durNs: () => 4_000, collective: true },
      { stage: 'kv_append', durNs: () => 2_000 },
      { stage: 'decode_attn', durNs: (rank) => (rank === SLOW.rank ? SLOW.slowNs : SLOW.plainNs) },
      { stage: 'neutralize', durNs: () => 1_500 },
      { stage: 'lse_all_gather', durNs: () => 3_000, collective: true },
      { stage: 'lse_correct', durNs: (rank) => 2_000 + 100 * rank },
      { stage: 'out_reduce_scatter', durNs: () => 6_000, collective: true },
    ],
    ...more,
  })
