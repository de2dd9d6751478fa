import type { Spot } from '../../../app/sweep/spots.ts'
import type { Group } from '../../../app/sweep/summary.ts'
import type { Caveats } from '../../../app/trace/caveat.ts'
import { placedSource, sourceNote } from '../../drawing/provenance.ts'

/** What is emulated of a sweep is what several ranks do: a rank alone happens as it is shown. */
const emulatedOf = (spot: Pick<Spot, 'dcp'>, manifest: Caveats): string | null =>
  spot.dcp === 1 ? null : (placedSource(manifest) ?? null)

/** What stands beside the numbers of a point; nothing where all of it was measured as it is. */
export const spotSource = (
  spot: Pick<Spot, 'provenances' | 'dcp' | 'kind'>,
  manifest: Caveats,
): string | undefined =>
  spot.kind === 'measured'
    ? sourceNote([...spot.provenances, emulatedOf(spot, manifest)])
    : sourceNote(spot.provenances)

/** What stands beside gains, which have a baseline and an exchange behind them. */
export const groupSource = (
  { predicted, provenances }: Pick<Group, 'predicted' | 'provenances'>,
  manifest: Caveats,
): string | undefined => sourceNote([...provenances, predicted ? null : (placedSource(manifest) ?? null)])
