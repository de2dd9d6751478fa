import { localIndex } from '../../../app/dcp/ownership.ts'
import type { Paging, Sharding } from '../../../app/dcp/types.ts'
import { formatInt } from '../../drawing/format.ts'
import type { Hit, Point } from './geometry.ts'

/**
 * The tokens of a request wound on a ring, oldest inside: a turn deals `interleave` tokens to each rank, so a rank keeps its
 * sector and grows outwards when it is its turn.
 */
export interface Ring {
  readonly centre: Point
  /** Turns of the whole request. */
  readonly total: number
  /** Turns that are drawn one by one: `count` from `first` on, `pitch` pixels each, from the radius `inner` outwards. */
  readonly first: number
  readonly count: number
  readonly pitch: number
  readonly inner: number
  readonly outer: number
}

/** How a ring is looked at. */
export interface RingView {
  /** Pixels a turn, at least. */
  readonly pitch: number
  /** First turn that is drawn; null for those around the selected token, or the newest ones. */
  readonly first: number | null
  /** Whether the selected token may be out of sight. */
  readonly free: boolean
}

export const PITCH = { least: 3, most: 48, usual: 16 } as const
/** Room outside for the numbers of the ranks. */
const LABELS = 34
/** Room below for a line of words. */
const WORDS = 36
/** Part of the radius that stays free inside, for words. */
const HOLE = 0.36
/** Rank 0 begins at the top; angles grow clockwise. */
const TOP = -Math.PI / 2
const TURN = 2 * Math.PI

const roundOf = ({ dcp, interleave }: Sharding): number => dcp * interleave

/** Turns of a prompt behind which tokens are dealt out anew, or 0. */
const turnsBefore = (sharding: Sharding): number => Math.ceil((sharding.prompt ?? 0) / roundOf(sharding))

/** Turn of a token, and its place in it: 0 to dcp * interleave - 1. */
export const turnOf = (token: number, sharding: Sharding): { turn: number; place: number } => {
  const round = roundOf(sharding)
  const { prompt } = sharding
  const anew = prompt !== undefined && token >= prompt
  const at = anew ? token - prompt : token
  return { turn: Math.floor(at / round) + (anew ? turnsBefore(sharding) : 0), place: at % round }
}

/** Token at a place of a turn; null where there is none. */
export const tokenAt = (turn: number, place: number, len: number, sharding: Sharding): number | null => {
  const round = roundOf(sharding)
  const before = turnsBefore(sharding)
  const { prompt } = sharding
  const anew = prompt !== undefined && turn >= before
  const token = anew ? prompt + (turn - before) * round + place : turn * round + place
  const end = anew ? len : Math.min(len, prompt ?? len)
  return token >= 0 && token < end ? token : null
}

export const totalTurns = (len: number, sharding: Sharding): number =>
  len === 0 ? 0 : turnOf(len - 1, sharding).turn + 1

/** The first of `count` turns around a turn that is to be seen. */
const around = (turn: number, count: number, total: number): number =>
  Math.min(Math.max(0, turn - Math.floor(count / 2)), Math.max(0, total - count))

/** Where the ring stands on a canvas, and which turns it shows; `focus` is a token that is to be seen. */
export const ringOf = (
  width: number,
  height: number,
  len: number,
  sharding: Sharding,
  view: RingView,
  focus: number | null,
): Ring => {
  const free = height - WORDS
  const most = Math.max(24, Math.min(width, free) / 2 - LABELS)
  const room = most * (1 - HOLE)
  const total = totalTurns(len, sharding)
  // Few turns are not left narrower than there is room for.
  const pitch = Math.min(PITCH.most, Math.max(view.pitch, room / Math.max(1, total)))
  const count = Math.min(total, Math.max(1, Math.floor(room / pitch + 1e-9)))
  const wanted = focus === null ? total : turnOf(focus, sharding).turn
  const chosen =
    view.first === null ? around(wanted, count, total) : Math.min(Math.max(0, view.first), total - count)
  const first = view.free || focus === null ? chosen : Math.min(Math.max(chosen, wanted - count + 1), wanted)
  const inner = most * HOLE
  return {
    centre: { x: width / 2, y: free / 2 },
    total,
    first,
    count,
    pitch,
    inner,
    outer: inner + count * pitch,
  }
}

/** Angle at which a place of a turn begins. */
export const angleOf = (place: number, sharding: Sharding): number => TOP + (place / roundOf(sharding)) * TURN

/** Radius at which a turn begins. */
export const radiusOf = (turn: number, ring: Ring): number => ring.inner + (turn - ring.first) * ring.pitch

export const isShown = (turn: number, { first, count }: Ring): boolean =>
  turn >= first && turn < first + count

/** Tokens of one rank in one turn: places `from` to `to`, and the place at which a page of it begins, where one does. */
export interface Arc {
  readonly turn: number
  readonly rank: number
  readonly from: number
  readonly to: number
  /** Token at `from`; those behind it follow. */
  readonly token: number
  readonly page: number | null
}

/** What of the ranks is drawn one by one. */
export const arcsOf = (ring: Ring, len: number, paging: Paging): Arc[] => {
  const { dcp, interleave } = paging
  const arcs: Arc[] = []
  for (let turn = ring.first; turn < ring.first + ring.count; turn++)
    for (let rank = 0; rank < dcp; rank++) {
      const from = rank * interleave
      const token = tokenAt(turn, from, len, paging)
      if (token === null) break
      let to = from + interleave
      const end = endOf(token, len, paging)
      to = Math.min(to, from + end - token)
      arcs.push({ turn, rank, from, to, token, page: pageIn(token, from, to, paging) })
    }
  return arcs
}

/** Where the part that a token belongs to ends: the prompt, or the request. */
const endOf = (token: number, len: number, { prompt }: Sharding): number =>
  prompt !== undefined && token < prompt ? Math.min(len, prompt) : len

const pageIn = (token: number, from: number, to: number, paging: Paging): number | null => {
  const begun = localIndex(token, paging) % paging.page
  const place = from + (begun === 0 ? 0 : paging.page - begun)
  return place < to ? place : null
}

/** What lies under a point of the ring: a token, or the rank of a sector outside of it. */
export const ringHit = ({ x, y }: Point, ring: Ring, len: number, sharding: Sharding): Hit => {
  const [dx, dy] = [x - ring.centre.x, y - ring.centre.y]
  const radius = Math.hypot(dx, dy)
  const share = ((((Math.atan2(dy, dx) - TOP) / TURN) % 1) + 1) % 1
  if (radius >= ring.outer && radius < ring.outer + LABELS)
    return { kind: 'rank', rank: Math.min(sharding.dcp - 1, Math.floor(share * sharding.dcp)) }
  if (radius < ring.inner || radius >= ring.outer) return { kind: 'nothing' }
  const turn = ring.first + Math.floor((radius - ring.inner) / ring.pitch)
  const token = tokenAt(turn, Math.floor(share * roundOf(sharding)), len, sharding)
  return token === null ? { kind: 'nothing' } : { kind: 'token', token, part: 'strip' }
}

/** Which turns are drawn one by one, and how much of the request that is. */
export const ringTexts = ({ first, count, total }: Ring, { dcp, interleave }: Sharding): string[] => {
  const round = `one turn is ${formatInt(dcp * interleave)} tokens, ${formatInt(interleave)} to a rank`
  if (total === 0) return [round]
  if (count === total) return [round, total === 1 ? 'one turn' : `all ${total} turns`]
  return [round, `turns ${formatInt(first)} to ${formatInt(first + count - 1)} of ${formatInt(total)}`]
}
