import { z } from 'zod'
import { MAX_DCP_SIZE } from '../run/config.ts'
import { type ConfigIssue, issuesOf, ruleText } from '../run/parse.ts'
import { MAX_INTERLEAVE, MAX_PAGE, MAX_TOKENS } from './checks.ts'
import { localIndex, localLengths, newestOwner, owner } from './ownership.ts'
import { columnOf, pageOffset } from './pages.ts'
import type { LocalIndex, RankId, TokenIndex, VirtualPage } from './types.ts'

const int = (min: number, max: number) => z.int().min(min).max(max)

const layoutSchema = z.strictObject({
  /** Global length, tokens. */
  len: int(0, MAX_TOKENS),
  dcp: int(1, MAX_DCP_SIZE),
  interleave: int(1, MAX_INTERLEAVE).default(1),
  page: int(1, MAX_PAGE).default(64),
  /** Tokens of the prompt, where those behind it are dealt out anew. */
  prompt: int(0, MAX_TOKENS).optional(),
  /** Global position of a token to locate. */
  token: int(0, MAX_TOKENS - 1).optional(),
})

export type LayoutRequest = z.output<typeof layoutSchema>

/** How one request lies on the ranks; the answer of `layout --json`. Lengths in tokens. */
export interface Layout {
  readonly len: number
  readonly dcp: number
  readonly interleave: number
  readonly page: number
  /** null when the request has no token. */
  readonly newestOwner: RankId | null
  readonly ranks: readonly { rank: RankId; localLen: number; localPages: number }[]
  readonly token?: {
    global: TokenIndex
    owner: RankId
    localIndex: LocalIndex
    /** Block-table column. */
    virtualPage: VirtualPage
    /** Place within the physical page. */
    offset: number
  }
}

export type ParsedLayout =
  | { ok: true; request: LayoutRequest }
  | { ok: false; issues: readonly ConfigIssue[] }

/** Rules between the fields. */
const layoutRules = ({ len, interleave, page, token }: LayoutRequest): ConfigIssue[] => [
  ...(page % interleave === 0
    ? []
    : [{ path: 'interleave', message: `must divide page (${page}), got ${interleave}` }]),
  ...(token === undefined || token < len
    ? []
    : [{ path: 'token', message: `must be below len (${len}), got ${token}` }]),
]

/** Parses `{len, dcp, interleave?, page?, token?}`; messages as those of a run configuration. Never throws. */
export const parseLayout = (input: unknown): ParsedLayout => {
  const parsed = layoutSchema.safeParse(input, { error: ruleText })
  const issues = parsed.success ? layoutRules(parsed.data) : issuesOf(parsed.error)
  return parsed.success && issues.length === 0 ? { ok: true, request: parsed.data } : { ok: false, issues }
}

/** The layout of a parsed request. */
export const layoutOf = ({ token, ...paging }: LayoutRequest): Layout => ({
  ...paging,
  newestOwner: newestOwner(paging.len, paging),
  ranks: localLengths(paging.len, paging).map((localLen, rank) => ({
    rank,
    localLen,
    localPages: Math.ceil(localLen / paging.page),
  })),
  ...(token === undefined
    ? {}
    : {
        token: {
          global: token,
          owner: owner(token, paging),
          localIndex: localIndex(token, paging),
          virtualPage: columnOf(token, paging),
          offset: pageOffset(token, paging),
        },
      }),
})
