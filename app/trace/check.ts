import type { RunSummary } from './manifest.ts'

/** Whether a check failed by NaN in merged rows that were not compared with the reference: the error of the others is allowed. */
export const failedByNan = ({ ok, maxRelErr, tolerance }: RunSummary['check']): boolean =>
  !ok && (maxRelErr === null || maxRelErr <= tolerance)
