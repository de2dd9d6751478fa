import { useEffect, useState } from 'react'
import type { Written } from '../../../app/dcp/coverage.ts'
import type { StoreResult } from '../../../app/protocol/store.ts'
import { request } from '../../state/store-client.ts'
import type { EngineLengths } from './engine-lengths.ts'

/** A request in the tensors of a step and layer, of a dump or of what a run captured. */
export interface StoredRequest {
  /** Id of the dump, which for a capture is that of its run. */
  readonly dump: string
  readonly step: number
  readonly layer: number
  readonly request: number
  readonly ranks: number
}

/** What the tensors say of the request. */
export interface Stored {
  /** What each rank counts; null where one says nothing. */
  readonly lengths: EngineLengths | null
  /** Who stored its newest token; null where that was not captured. */
  readonly written: Written | null
}

/** One mark for the whole row of a request: only its lengths and newest token are asked for. */
const WHOLE_ROW = { requests: 1, columnFrom: 0, marks: 1, perMark: 2 ** 32 } as const

type Cells = StoreResult<'pageCells'>

const writtenIn = (ofRanks: readonly Cells[]): Written | null => {
  const token = ofRanks[0]?.newest[0] ?? -1
  const slots = ofRanks.map(({ writtenSlot }) => writtenSlot[0] ?? Number.NaN)
  if (token < 0 || slots.some(Number.isNaN)) return null
  return { token, places: slots.flatMap((slot, rank) => (slot >= 0 ? [{ rank, slot }] : [])) }
}

const lengthsIn = (ofRanks: readonly Cells[]): EngineLengths | null => {
  const localLens = ofRanks.map(({ localLen }) => localLen[0] ?? Number.NaN)
  const globalLen = ofRanks[0]?.globalLen[0] ?? Number.NaN
  return localLens.some(Number.isNaN) || Number.isNaN(globalLen)
    ? null
    : { globalLen, localLens, attended: localLens }
}

const storedOf = async ({
  dump,
  step,
  layer,
  request: requestFrom,
  ranks,
}: StoredRequest): Promise<Stored> => {
  const ofRanks = await Promise.all(
    Array.from({ length: ranks }, (_, rank) =>
      request('pageCells', { source: { dump, step, layer, rank }, requestFrom, ...WHOLE_ROW }),
    ),
  )
  return { lengths: lengthsIn(ofRanks), written: writtenIn(ofRanks) }
}

interface Kept {
  readonly key: string
  readonly stored: Stored | null
  readonly error: string | null
}

/** What the tensors say of a request; nothing while they are read, or where they cannot be. */
export const useStored = (
  of: StoredRequest | null,
): { readonly stored: Stored | null; readonly error: string | null } => {
  const [kept, setKept] = useState<Kept | null>(null)
  const key = of === null ? null : JSON.stringify(of)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names everything that is asked
  useEffect(() => {
    if (key === null || of === null) return
    let wanted = true
    const keep = (found: Omit<Kept, 'key'>): void => {
      if (wanted) setKept({ key, ...found })
    }
    storedOf(of).then(
      (stored) => keep({ stored, error: null }),
      (error: unknown) =>
        keep({ stored: null, error: error instanceof Error ? error.message : String(error) }),
    )
    return () => {
      wanted = false
    }
  }, [key])
  return kept !== null && kept.key === key ? kept : { stored: null, error: null }
}
