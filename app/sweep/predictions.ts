import type { SweepConfig } from './config.ts'
import { type Prediction, predict, type Rates } from './cost.ts'
import type { SweepPoint } from './expand.ts'
import { type PointRow, predictedRow, type SweepLabels } from './point-rows.ts'

/** With the exchange of the measuring device, by point. */
export const predictionsOf = (points: readonly SweepPoint[], rates: Rates): Map<string, Prediction> =>
  new Map(
    points.flatMap((point): [string, Prediction][] => {
      const prediction = predict(point.run, rates, 'local')
      return prediction === undefined ? [] : [[point.key, prediction]]
    }),
  )

/** What stands beside the measurements, and what GPUs with a rank each would do. */
export const predictedRows = (
  points: readonly SweepPoint[],
  labels: SweepLabels,
  rates: Rates,
  { collectives }: SweepConfig,
): PointRow[] => {
  const local = predictionsOf(points, rates)
  // Threads of a CPU say nothing of GPUs, unless somebody timed what is to be predicted.
  const gpus = !rates.shared || collectives.length > 0
  return points.flatMap((point) => {
    const between = gpus ? predict(point.run, rates, { table: collectives }) : undefined
    return [local.get(point.key), between].flatMap((prediction) =>
      prediction === undefined ? [] : [predictedRow(point, labels, prediction)],
    )
  })
}

export const isPrediction = ({ provenance }: PointRow): boolean => provenance === 'predicted'

export const predictionKey = ({ key, transport }: PointRow): string => `${key} ${transport}`
