/** Why a group of ranks ended before its time. */
export interface Cause {
  readonly rank: number
  readonly status: 'failed' | 'interrupted'
  /** What the rank did or said: `died (SIGKILL)`, or the error of its engine. */
  readonly what: string
  /** As in engine events. */
  readonly code: string
}

/** Errors that name a rank and a stage themselves, or are the same on all ranks. */
const WHOLE = ['ERR_ABSENT', 'ERR_POOL_FULL', 'ERR_CONFIG']

/** One line with rank and stage. `place`: where the rank was last, in words that follow "in". */
export const causeText = ({ rank, status, what, code }: Cause, world: number, place?: string): string => {
  const of = world === 1 ? '' : ` of ${world}`
  const where = place === undefined ? '' : `, last in ${place}`
  if (status === 'interrupted') return `rank ${rank}${of} ${what}${where}`
  return WHOLE.includes(code) ? what : `rank ${rank}${of} failed${where}: ${what}`
}
