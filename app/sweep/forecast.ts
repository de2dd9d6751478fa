import type { SweepConfig } from './config.ts'
import type { Rates } from './cost.ts'
import { TimeEstimate } from './estimate.ts'
import { expand, type LeftOut, type SweepMachine } from './expand.ts'
import { measurementsOf } from './plan.ts'
import { predictionsOf } from './predictions.ts'

/** What a sweep would be, before anything of it is measured. */
export interface Forecast {
  readonly points: number
  /** Runs of all points: those above the capacity share the one of what the pool holds. */
  readonly runs: number
  readonly leftOut: readonly LeftOut[]
  /** Points with fewer requests at once than are asked for. */
  readonly limited: number
  readonly seconds: number
  /** Whether steps are in `seconds`; without rates of the device only what lies around them is. */
  readonly whole: boolean
}

/** `rates` are those of another sweep of the same device, where there is one. */
export const forecastOf = (config: SweepConfig, machine: SweepMachine, rates?: Rates): Forecast => {
  const { points, leftOut } = expand(config, machine)
  const predictions = rates === undefined ? new Map() : predictionsOf(points, rates)
  const estimate = new TimeEstimate(machine.device, predictions)
  const measurements = measurementsOf(points)
  const { repeats } = config
  return {
    points: points.length,
    runs: measurements.length * repeats,
    leftOut,
    limited: points.filter(({ capacityLimited }) => capacityLimited).length,
    seconds: measurements.reduce((sum, { points: [point] }) => sum + estimate.of(point, repeats), 0),
    whole: measurements.every(({ points: [point] }) => predictions.has(point.key)),
  }
}
