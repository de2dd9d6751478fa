import type { Assignment } from '../../app/protocol/ranks.ts'
import type { RankProcess } from './rank-process.ts'

/** How long a process may take to end once the run is over. */
const EXIT_MS = 1000

/** The processes of ranks that this one has started. */
export class LocalRanks {
  readonly #start: (assignment: Assignment) => RankProcess
  readonly #exited: (rank: number, how: string) => void
  readonly #processes = new Map<number, RankProcess>()

  /** `exited` is told of every end, with a sentence that says how. */
  constructor(start: (assignment: Assignment) => RankProcess, exited: (rank: number, how: string) => void) {
    this.#start = start
    this.#exited = exited
  }

  start(assignment: Assignment): void {
    const { rank } = assignment
    const process = this.#start(assignment)
    this.#processes.set(rank, process)
    process.ended.then(({ over, how }) =>
      this.#exited(rank, over?.error === undefined ? how : `ended: ${over.error}`),
    )
  }

  has(rank: number): boolean {
    return this.#processes.has(rank)
  }

  /** Resolves when all have ended; those that do not in time are killed. */
  async end(): Promise<void> {
    const all = Promise.all([...this.#processes.values()].map(({ ended }) => ended))
    const late = setTimeout(() => {
      for (const process of this.#processes.values()) process.kill()
    }, EXIT_MS)
    await all
    clearTimeout(late)
  }
}
