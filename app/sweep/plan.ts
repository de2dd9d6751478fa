import type { SweepPoint } from './expand.ts'
import { grouped, type Some } from './grouped.ts'
import type { PointRow } from './point-rows.ts'

/** One measurement and the points that it gives: those above capacity run as what the pool holds. */
export interface Measurement {
  readonly name: string
  readonly points: Readonly<Some<SweepPoint>>
}

/** Measurements in the order of their first points. */
export const measurementsOf = (points: readonly SweepPoint[]): Measurement[] =>
  [...grouped(points, ({ measurement }) => measurement)].map(([name, own]) => ({ name, points: own }))

/** Which repeats of which points are measured. */
export class Done {
  readonly #repeats = new Map<string, Set<number>>()

  constructor(rows: readonly PointRow[]) {
    for (const row of rows) this.add(row)
  }

  /** Rows that are no repeat, such as predictions, count for nothing. */
  add({ key, repeat }: PointRow): void {
    if (repeat < 0) return
    const known = this.#repeats.get(key)
    if (known === undefined) this.#repeats.set(key, new Set([repeat]))
    else known.add(repeat)
  }

  has(key: string, repeat: number): boolean {
    return this.#repeats.get(key)?.has(repeat) ?? false
  }

  /** Repeats of a measurement that are still to be made, of `repeats`. */
  open({ points }: Measurement, repeats: number): number[] {
    return Array.from({ length: repeats }, (_, repeat) => repeat).filter((repeat) =>
      points.some(({ key }) => !this.has(key, repeat)),
    )
  }

  /** Points with all of `repeats`. */
  whole(points: readonly SweepPoint[], repeats: number): SweepPoint[] {
    return points.filter(({ key }) => (this.#repeats.get(key)?.size ?? 0) >= repeats)
  }
}
