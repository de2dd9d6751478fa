import { restOfLayer } from '../run/rest-of-layer.ts'
import { attentionWork, type Rates, type Work } from './cost.ts'
import type { SweepPoint } from './expand.ts'
import type { Spot } from './spots.ts'

/** Bytes and operations of a step against what the device reads and multiplies at most. */

/** What the device did at most in the runs before the first point of the sweep. */
export interface Roof {
  readonly bytesPerS: number
  readonly flopsPerS: number
}

/** What is held against the roof: attention alone, or all of a step with the weights of the rest of each layer. */
export const WORKS = ['attention', 'step'] as const
export type Worked = (typeof WORKS)[number]

export interface RoofPoint {
  readonly spot: Spot
  /** Of one rank and one step, all layers; a whole step of all ranks where they share the device. */
  readonly bytes: number
  readonly flops: number
  /** Operations for each byte. */
  readonly intensity: number
  readonly flopsPerS: number
  readonly bytesPerS: number
  readonly ms: number
  /** What the work takes at the roof. */
  readonly leastMs: number
  /** Which part of the roof is above it. */
  readonly under: 'hbm' | 'matrix'
}

/** The fastest reading and multiplying that the rates know; null where nothing was measured. */
export const roofOf = ({ attention, stages }: Rates): Roof | null => {
  const known = Object.values(attention)
  if (known.length === 0) return null
  const weights = Object.values(stages).flatMap(({ rest_of_layer: rest }) =>
    rest === undefined || rest.nsPerByte === 0 ? [] : [1e9 / rest.nsPerByte],
  )
  return {
    bytesPerS: Math.max(...known.map(({ bytesPerS }) => bytesPerS), ...weights),
    flopsPerS: Math.max(...known.map(({ flopsPerS }) => flopsPerS)),
  }
}

/** Operations for each byte from which on multiplying takes longer than reading. */
export const ridgeOf = ({ bytesPerS, flopsPerS }: Roof): number => flopsPerS / bytesPerS

/** Operations per second that the roof allows at `intensity`. */
export const roofAt = ({ bytesPerS, flopsPerS }: Roof, intensity: number): number =>
  Math.min(flopsPerS, intensity * bytesPerS)

/** Of one rank and one step of the whole model. */
const workOf = ({ run }: Pick<SweepPoint, 'run'>, worked: Worked): Work => {
  const attention = attentionWork(run)
  const rest = worked === 'step' ? restOfLayer(run) : { bytes: 0, flops: 0 }
  const { layers } = run.model
  return { bytes: (attention.bytes + rest.bytes) * layers, flops: (attention.flops + rest.flops) * layers }
}

/** The points whose run and time are known, under the roof. */
export const roofPoints = (
  spots: readonly Spot[],
  points: ReadonlyMap<string, SweepPoint>,
  { shared, roof }: { readonly shared: boolean; readonly roof: Roof },
  worked: Worked,
): RoofPoint[] =>
  spots.flatMap((spot): RoofPoint[] => {
    const point = points.get(spot.key)
    const ms = worked === 'attention' ? spot.attnMs : spot.stepMs
    if (point === undefined || !(ms > 0)) return []
    // Ranks that share a device do a step together, but each its own attention, at times alone.
    const ranks = shared && spot.kind !== 'gpus' && worked === 'step' ? spot.dcp : 1
    const work = workOf(point, worked)
    const [bytes, flops] = [work.bytes * ranks, work.flops * ranks]
    const [reading, multiplying] = [(bytes / roof.bytesPerS) * 1e3, (flops / roof.flopsPerS) * 1e3]
    return [
      {
        spot,
        bytes,
        flops,
        intensity: flops / bytes,
        flopsPerS: flops / (ms / 1e3),
        bytesPerS: bytes / (ms / 1e3),
        ms,
        leastMs: Math.max(reading, multiplying),
        under: reading >= multiplying ? 'hbm' : 'matrix',
      },
    ]
  })
