import { useEffect, useState } from 'react'
import type { Measure } from '../../../app/dump/survey.ts'
import type { DumpRank } from '../../../app/protocol/store.ts'
import type { WorkDone } from '../../state/client.ts'
import { request } from '../../state/store-client.ts'
import { client } from '../../state/store-connection.ts'
import type { TensorMap } from './map-layout.ts'

export interface MapsWanted {
  readonly dump: string
  readonly step: number
  readonly layer: number
  readonly tensor: string
  readonly measure: Measure
  readonly all: boolean
  readonly ranks: readonly DumpRank[]
}

export interface RankMaps {
  readonly maps: ReadonlyMap<DumpRank, TensorMap>
  readonly error: string | null
  /** How far reading is over all ranks; null when it is done. */
  readonly work: WorkDone | null
}

const NOTHING: RankMaps = { maps: new Map(), error: null, work: null }

interface Kept extends RankMaps {
  readonly key: string
}

/** Asks for the maps one rank after the other, and shows each as it comes. What nobody wants any more is taken back. */
export const useRankMaps = (wanted: MapsWanted | null): RankMaps => {
  const [connection, setConnection] = useState(client.connections)
  const [kept, setKept] = useState<Kept | null>(null)
  useEffect(() => client.onConnect(setConnection), [])
  const key = wanted === null ? null : `${JSON.stringify(wanted)}#${connection}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of what is wanted
  useEffect(() => {
    if (wanted === null || key === null) return setKept(null)
    const unwanted = new AbortController()
    const { ranks, ...params } = wanted
    const maps = new Map<DumpRank, TensorMap>()
    const tell = (part: number, error: string | null, ended: boolean): void => {
      if (unwanted.signal.aborted) return
      const work = ended ? null : { done: maps.size + part, total: ranks.length }
      setKept({ key, maps: new Map(maps), error, work })
    }
    const read = async (): Promise<void> => {
      tell(0, null, false)
      try {
        for (const rank of ranks) {
          const map = await request(
            'tensorMap',
            { ...params, rank },
            { signal: unwanted.signal, onWork: ({ done, total }) => tell(done / total, null, false) },
          )
          maps.set(rank, map)
          tell(0, null, maps.size === ranks.length)
        }
      } catch (error) {
        tell(0, error instanceof Error ? error.message : String(error), true)
      }
    }
    void read()
    return () => unwanted.abort()
  }, [key])
  return kept !== null && kept.key === key ? kept : NOTHING
}
