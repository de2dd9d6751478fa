import { type Device, tokenBytes } from '../run/engine-config.ts'
import { measuredLayers } from '../run/shape.ts'
import type { Prediction } from './cost.ts'
import type { SweepPoint } from './expand.ts'

/** Time of a run beside its steps, before any was measured: allocation, and generating keys. */
const SETUP_S = 0.2
const FILL_BYTES_PER_S: Readonly<Record<Device, number>> = { cuda: 50e9, cpu: 200e6 }

/** Seconds of one repeat by the cost model. Ranks that share a GPU run in turn, so each adds its own step. */
const predictedSeconds = (point: SweepPoint, prediction: Prediction | undefined, device: Device): number => {
  const { run, batch, context, dcp } = point
  const layers = measuredLayers(run)
  const fill = (tokenBytes(run) * batch * context * layers) / FILL_BYTES_PER_S[device]
  const stepS = ((prediction?.stepMs ?? 0) / 1e3) * (layers / run.model.layers)
  const turns = device === 'cuda' ? dcp : 1
  return SETUP_S + fill + (run.workload.steps + run.workload.warmup) * stepS * turns
}

/** Foretells what is left of a sweep from the cost model, corrected by how it did so far. */
export class TimeEstimate {
  readonly #device: Device
  readonly #predictions: ReadonlyMap<string, Prediction>
  #predicted = 0
  #taken = 0

  /** `predictions`: with the exchange of the measuring device, by point. */
  constructor(device: Device, predictions: ReadonlyMap<string, Prediction>) {
    this.#device = device
    this.#predictions = predictions
  }

  /** A repeat of `point` took `seconds`. */
  took(point: SweepPoint, seconds: number): void {
    this.#predicted += this.#raw(point)
    this.#taken += seconds
  }

  /** Seconds of `repeats` of `point`. */
  of(point: SweepPoint, repeats = 1): number {
    const correction = this.#predicted > 0 ? this.#taken / this.#predicted : 1
    return this.#raw(point) * repeats * correction
  }

  #raw(point: SweepPoint): number {
    return predictedSeconds(point, this.#predictions.get(point.key), this.#device)
  }
}
