import type { DuckDBInstance } from '@duckdb/node-api'
import { acrossRuns, areRepeats, MOST_REPEATS } from '../../app/compare/repeats.ts'
import {
  commonSteps,
  compareTimes,
  type Measure,
  measureMedians,
  type StepTimes,
} from '../../app/compare/times.ts'
import {
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../app/protocol/store.ts'
import { PROVENANCES, type Provenance } from '../../app/trace/stages.ts'
import { compareRows } from './compare-queries.ts'
import { interruptible, withConnection } from './duck.ts'
import type { DumpShelf } from './dump-shelf.ts'
import { StoreProblem } from './problem.ts'
import { parsedParams, type RunBundle } from './run-bundle.ts'

/** Methods that are about two runs or dumps. */
export const COMPARE_METHODS = [
  'compareTimes',
  'compareRows',
  'compareTensors',
] as const satisfies readonly StoreMethod[]
export type CompareMethod = (typeof COMPARE_METHODS)[number]

export const isCompareMethod = (method: StoreMethod): method is CompareMethod =>
  COMPARE_METHODS.some((name) => name === method)

type Pair = StoreParams<CompareMethod>

interface Services {
  readonly bundle: (run: string) => Promise<RunBundle>
  /** All known runs, the newest first. */
  readonly others: () => Promise<readonly RunBundle[]>
  readonly duck: () => Promise<DuckDBInstance>
  readonly dumps: DumpShelf
}

/** What the one who asks says meanwhile, and hears. */
interface Asked {
  readonly signal: AbortSignal | undefined
  readonly progress: (done: number, total: number) => void
}

/** Compares two runs or dumps. Rejects with one sentence. */
export class CompareShelf {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  answer(method: CompareMethod, params: unknown, asked: Asked): Promise<StoreResult<CompareMethod>> {
    const pair: Pair = parsedParams(method, storeMethods[method].params, params)
    switch (method) {
      case 'compareTimes':
        return this.#times(pair, asked)
      case 'compareRows':
        return this.#rows(pair, asked)
      case 'compareTensors':
        return this.#services.dumps.compare(pair.a, pair.b, {
          aborted: () => asked.signal?.throwIfAborted(),
          progress: asked.progress,
        })
    }
  }

  async #times(pair: Pair, { signal, progress }: Asked): Promise<StoreResult<'compareTimes'>> {
    const [a, b] = await this.#runs(pair)
    const [ofA, ofB] = [await a.stepTimes(signal), await b.stepTimes(signal)]
    const compared = compareTimes(ofA, ofB)
    const [first, second] = [await a.timeSources(signal), await b.timeSources(signal)]
    const sourcesOf = ({ step, stages }: typeof first, measure: Measure): readonly Provenance[] => {
      if (measure === 'step') return step
      if (measure !== 'waiting') return stages.get(measure) ?? []
      const all = [...stages.values()].flat()
      return PROVENANCES.filter((source) => all.includes(source))
    }
    const sides = areRepeats(a.manifest, b.manifest)
      ? null
      : { a: await this.#repeatsOf(a, b), b: await this.#repeatsOf(b, a) }
    const steps = commonSteps(ofA.step, ofB.step)
    const total = (sides?.a.length ?? 0) + (sides?.b.length ?? 0)
    let done = 0
    const medians = async (own: StepTimes, repeats: readonly RunBundle[]) => {
      const all = [measureMedians(own, steps)]
      for (const run of repeats) {
        progress(done++, total)
        signal?.throwIfAborted()
        all.push(measureMedians(await run.stepTimes(signal), steps))
      }
      return all
    }
    return {
      ...compared,
      sources: compared.rows.map(({ measure }) => ({
        measure,
        a: sourcesOf(first, measure),
        b: sourcesOf(second, measure),
      })),
      repeatsOf: sides === null ? null : { a: 1 + sides.a.length, b: 1 + sides.b.length },
      // A side without repeats says nothing of what differs from run to run.
      repeats:
        sides === null || sides.a.length === 0 || sides.b.length === 0
          ? []
          : acrossRuns(await medians(ofA, sides.a), await medians(ofB, sides.b)),
    }
  }

  /** Other whole runs that are known and did the same in the same place, the newest first. */
  async #repeatsOf(run: RunBundle, other: RunBundle): Promise<readonly RunBundle[]> {
    const isRepeat = (bundle: RunBundle): boolean => {
      try {
        const { manifest } = bundle
        return (
          manifest.status === 'complete' && manifest.sweep === undefined && areRepeats(run.manifest, manifest)
        )
      } catch {
        // A bundle that cannot be read is listed as such, and is no repeat.
        return false
      }
    }
    return (await this.#services.others())
      .filter((bundle) => bundle.id !== run.id && bundle.id !== other.id && isRepeat(bundle))
      .slice(0, MOST_REPEATS - 1)
  }

  async #rows(pair: Pair, { signal }: Asked): Promise<StoreResult<'compareRows'>> {
    const [a, b] = await this.#runs(pair)
    return withConnection(await this.#services.duck(), (connection) =>
      interruptible(connection, signal, () =>
        compareRows(
          connection,
          { folder: a.folder, config: a.manifest.config },
          { folder: b.folder, config: b.manifest.config },
        ),
      ),
    )
  }

  async #runs({ a, b }: Pair): Promise<readonly [a: RunBundle, b: RunBundle]> {
    const [first, second] = [await this.#services.bundle(a), await this.#services.bundle(b)]
    for (const { manifest } of [first, second])
      if (manifest.sweep !== undefined)
        throw new StoreProblem(
          `${manifest.name} is a sweep, which holds no steps; compare two runs or two dumps`,
        )
    return [first, second]
  }
}
