import type { EngineFault } from '../../../app/faults/engine.ts'
import type { LseBase } from '../../../app/lse/base.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { mergePartials } from '../../../app/lse/merge.ts'
import type { EngineConfig } from '../../../app/run/engine-config.ts'
import { at, captureOf, type Finished, finish, smallConfig, valuesOf } from '../engine.ts'

/** A small run of fp32 with every step and layer captured and every row checked. */
export const capturedConfig = (over: Partial<EngineConfig> = {}): EngineConfig => {
  const config = smallConfig({ checkRows: -2, ...over })
  return {
    ...config,
    captureSteps: Array.from({ length: config.steps }, (_, step) => step),
    captureLayers: Array.from({ length: config.layers }, (_, layer) => layer),
  }
}

/** A fault on all of two ranks unless told otherwise. */
export const faultOf = (fault: EngineFault['fault'], over: Partial<EngineFault> = {}): EngineFault => ({
  fault,
  ranks: [0, 1],
  layers: [],
  steps: [],
  draft: false,
  variant: 0,
  amount: 0,
  ...over,
})

export interface Place {
  readonly step?: number
  readonly layer?: number
}

/** Tensors of a finished run, row by row: query token t, head h of the group. */
export class Observed {
  constructor(
    readonly run: Finished,
    readonly config: EngineConfig,
  ) {}

  get tokens(): number {
    return this.config.contextLens.length * this.config.qLen
  }

  /** Values of a partial. */
  get width(): number {
    return this.config.kvHeads > 0 ? this.config.headDim : this.config.kvLoraRank
  }

  /** A whole tensor of a rank (-1: the reference); of the last step and the first layer where no place is named. */
  values(rank: number, name: string, { step, layer = 0 }: Place = {}): Float64Array {
    return valuesOf(captureOf(this.run, rank, step ?? this.config.steps - 1, layer), name)
  }

  /** `out` or `out_kernel` of a rank, or that of the reference. */
  out(rank: number, t: number, h: number, place: Place = {}, name = 'out'): Float64Array {
    const row = (t * this.config.heads + h) * this.width
    return this.values(rank, name, place).subarray(row, row + this.width)
  }

  lse(rank: number, t: number, h: number, place: Place = {}, name = 'lse'): number {
    return at(this.values(rank, name, place), t * this.config.heads + h)
  }

  /** What the rank that keeps the head has of it. */
  merged(t: number, h: number, place: Place = {}): Float64Array {
    const { heads, ranks } = this.config
    const own = heads / ranks
    const row = (t * own + (h % own)) * this.width
    return this.values(Math.floor(h / own), 'merged', place).subarray(row, row + this.width)
  }

  /** Merge of the partials as they were handed over, with the lse taken in `base`. */
  remerged(t: number, h: number, base: LseBase, place: Place = {}): Float64Array {
    const ranks = Array.from({ length: this.config.ranks }, (_, rank) => rank)
    return mergePartials({
      lse: ranks.map((rank) => this.lse(rank, t, h, place)),
      out: ranks.flatMap((rank) => [...this.out(rank, t, h, place)]),
      width: this.width,
      base,
    }).out
  }

  /** Relative error of the merged row against the reference. */
  error(t: number, h: number, place: Place = {}): number {
    return vectorError(this.merged(t, h, place), this.out(-1, t, h, place)).relative
  }

  /** Every (t, h). */
  rows(): [t: number, h: number][] {
    return Array.from({ length: this.tokens * this.config.heads }, (_, i) => [
      Math.floor(i / this.config.heads),
      i % this.config.heads,
    ])
  }

  /** Largest relative error of all rows; NaN where there is one. */
  worst(place: Place = {}): number {
    return this.rows().reduce((most, [t, h]) => {
      const error = this.error(t, h, place)
      return Number.isNaN(error) || Number.isNaN(most) ? Number.NaN : Math.max(most, error)
    }, 0)
  }
}

/** fp32 partials merged on an fp32 wire stay within this of the fp64 reference. */
export const EXACT = 1e-5

export const observe = async (config: EngineConfig, ...faults: EngineFault[]): Promise<Observed> => {
  const faulty = { ...config, faults }
  return new Observed(await finish(faulty), faulty)
}
