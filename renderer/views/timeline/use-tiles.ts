import { useEffect, useMemo, useRef, useState } from 'react'
import { request } from '../../state/store-client.ts'
import { client } from '../../state/store-connection.ts'
import type { TimeRange } from './range.ts'
import {
  levelOf,
  TILE_BUCKETS,
  TileCache,
  type TileKey,
  type TilePiece,
  tileName,
  tileRange,
  tilesOver,
} from './tiles.ts'

/** Questions to the store at once: more would only queue there, and could not be dropped any more. */
const AT_ONCE = 3

interface Loader {
  readonly run: string | null
  readonly ranks: number
  readonly cache: TileCache
  readonly pending: Set<string>
  /** Tiles still wanted, most wanted first; replaced with every change of the view. */
  queue: readonly TileKey[]
  traceEndNs: number
}

interface Tiles {
  readonly pieces: readonly TilePiece[]
  readonly loading: boolean
  readonly error: string | null
}

/** Three screens of tiles, the visible one first. */
const wantedTiles = (range: TimeRange, level: number, whole: TimeRange): TileKey[] => {
  const span = range.endNs - range.startNs
  const around = {
    startNs: Math.max(whole.startNs, range.startNs - span),
    endNs: Math.max(range.endNs, Math.min(whole.endNs, range.endNs + span)),
  }
  const visible = tilesOver(range, level)
  const names = new Set(visible.map(tileName))
  return [...visible, ...tilesOver(around, level).filter((key) => !names.has(tileName(key)))]
}

/**
 * The tiles to draw over `range`, fetched as needed; what is there already is given at once. `tracedNs` is how far
 * the bundle's closed parts reach, infinite when it does not grow any more.
 */
export const useTiles = (
  run: string | null,
  ranks: number,
  range: TimeRange,
  whole: TimeRange,
  tracedNs: number,
  width: number,
): Tiles => {
  const [version, setVersion] = useState(0)
  const [error, setError] = useState<string | null>(null)
  const loader = useMemo<Loader>(
    () => ({ cache: new TileCache(), pending: new Set(), queue: [], traceEndNs: 0, run, ranks }),
    [run, ranks],
  )
  const [connection, setConnection] = useState(client.connections)
  useEffect(() => client.onConnect(setConnection), [])
  const current = useRef(loader)
  current.current = loader
  const { startNs, endNs } = range
  const { startNs: firstNs, endNs: lastNs } = whole
  const level = levelOf(range, width)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new connection asks anew what the old one left open
  useEffect(() => {
    if (run === null || ranks === 0 || lastNs <= firstNs) return
    loader.traceEndNs = tracedNs
    loader.queue = wantedTiles({ startNs, endNs }, level, { startNs: firstNs, endNs: lastNs })
    const fetchNext = (): void => {
      if (current.current !== loader) return
      while (loader.pending.size < AT_ONCE) {
        const key = loader.queue.find(
          (k) => !loader.pending.has(tileName(k)) && !loader.cache.isFresh(k, loader.traceEndNs),
        )
        if (key === undefined) return
        fetchTile(key)
      }
    }
    const fetchTile = (key: TileKey): void => {
      const name = tileName(key)
      const traceEndNs = loader.traceEndNs
      loader.pending.add(name)
      const all = Array.from({ length: ranks }, (_, rank) => rank)
      request('spanTile', { run, ranks: all, ...tileRange(key), buckets: TILE_BUCKETS }).then(
        (tile) => {
          loader.pending.delete(name)
          loader.cache.put(key, tile, traceEndNs)
          if (current.current !== loader) return
          setError(null)
          setVersion((v) => v + 1)
          fetchNext()
        },
        (reason: unknown) => {
          loader.pending.delete(name)
          if (current.current === loader) setError(reason instanceof Error ? reason.message : String(reason))
        },
      )
    }
    fetchNext()
  }, [loader, run, ranks, startNs, endNs, firstNs, lastNs, tracedNs, level, connection])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is a new tile in the cache
  const pieces = useMemo(
    () => loader.cache.covering({ startNs, endNs }, level),
    [loader, version, startNs, endNs, level],
  )
  return { pieces, loading: loader.pending.size > 0, error }
}
