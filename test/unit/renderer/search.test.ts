import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { type Found, placesFound, questionOf, traceFound } from '../../../renderer/shell/search/results.ts'
import { termsOf } from '../../../renderer/shell/search/terms.ts'
import { NO_SELECTION, type Selection } from '../../../renderer/state/selection.ts'
import type { ViewId } from '../../../renderer/state/view.ts'
import { runInfo } from './run-info.ts'

describe('what is typed', () => {
  it.each([
    ['token 1234', { token: 1234 }],
    ['Token=1234', { token: 1234 }],
    ['tokens 1\u2009234', { token: 1234 }],
    ['step40 rank:2', { step: 40, rank: 2 }],
    ['req 3, lay 1', { request: 3, layer: 1 }],
    ['column 7 page 9', { column: 7, page: 9 }],
  ])('names kinds with their numbers: %s', (text, numbers) => {
    expect(termsOf(text)).toEqual({ numbers, bare: null, stages: [], words: [] })
  })

  it('is a stage by its name or a part of it, and never one that contains others', () => {
    expect(termsOf('decode_attn rank 1')).toMatchObject({ numbers: { rank: 1 }, stages: ['decode_attn'] })
    expect(termsOf('gather').stages).toEqual(['q_all_gather', 'lse_all_gather'])
    expect(termsOf('graph_replay').stages).toEqual([])
    expect(termsOf('a').stages).toEqual([])
  })

  it('is else a word, also where a kind lacks its number or could be several', () => {
    expect(termsOf('NaN rank')).toMatchObject({ numbers: {}, words: ['nan', 'rank'] })
    expect(termsOf('re 5')).toMatchObject({ numbers: { request: 5 } })
    expect(termsOf('17')).toMatchObject({ numbers: {}, bare: 17 })
    expect(termsOf('  ')).toEqual({ numbers: {}, bare: null, stages: [], words: [] })
  })

  it('never makes reading fail, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { words, numbers } = termsOf(text)
        expect(words.length).toBeLessThanOrEqual(8)
        for (const number of Object.values(numbers)) expect(Number.isSafeInteger(number)).toBe(true)
      }),
    )
  })
})

/** Four ranks, page 16, interleave 1, requests of 10 and 1000 tokens before the first step, 24 steps, 4 layers. */
const info: RunInfo = (() => {
  const parsed = parseRunConfig({
    model: { preset: 'tiny' },
    workload: {
      requests: [
        { count: 1, contextLen: 10 },
        { count: 1, contextLen: 1000 },
      ],
      qLen: 1,
      steps: 24,
    },
    parallel: { dcpSize: 4, tpSize: 4, interleave: 1 },
    cache: { pageSize: 16 },
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return runInfo('r', { manifest: { config: parsed.config } })
})()

const places = (text: string, view: ViewId = 'run', selection: Partial<Selection> = {}): readonly Found[] =>
  placesFound(termsOf(text), { info, view, selection: { ...NO_SELECTION, ...selection } })

const only = (text: string, view?: ViewId, selection?: Partial<Selection>): Found => {
  const [first, ...others] = places(text, view, selection)
  if (first === undefined || others.length > 0) throw new Error(`one result was expected for ${text}`)
  return first
}

describe('places that numbers name', () => {
  it('are shown in the view in front where that shows them, else in the usual one', () => {
    expect(only('step 12')).toMatchObject({
      title: 'Step 12',
      view: 'timeline',
      selection: { step: 12, timeNs: null },
    })
    expect(only('step 12', 'merge').view).toBe('merge')
    expect(only('layer 2', 'ownership').view).toBe('timeline')
    expect(only('rank 3 step 2', 'ownership')).toMatchObject({
      title: 'Step 2, rank 3',
      view: 'ownership',
      selection: { step: 2, rank: 3 },
    })
    expect(only('request 1', 'timeline').view).toBe('ownership')
    expect(only('step 3 head 1', 'timeline')).toMatchObject({
      view: 'merge',
      selection: { step: 3, head: 1 },
    })
    expect(only('step 1 request 1', 'run').view).toBe('ownership')
  })

  it('are said not to be there, with what there is, and cannot be chosen', () => {
    expect(only('step 24')).toMatchObject({ title: 'No step 24: the run has step 0 to 23', enabled: false })
    expect(places('rank 4 layer 9 step 1').map(({ title }) => title)).toEqual([
      'No layer 9: the run has layer 0 to 3',
      'No rank 4: the run has rank 0 to 3',
    ])
  })

  it('have the tokens of the requests that have them, with their place', () => {
    expect(only('token 500')).toMatchObject({
      title: 'Token 500 of request 1: rank 0, local 125, virtual page 7',
      view: 'ownership',
      selection: { request: 1, token: 500 },
    })
    expect(places('token 5').map(({ selection }) => selection.request)).toEqual([0, 1])
    expect(places('token 5', 'run', { request: 1 }).map(({ selection }) => selection.request)).toEqual([1, 0])
    expect(only('token 5 request 0 step 3').selection).toEqual({ request: 0, token: 5, step: 3 })
  })

  it('know that requests grow from step to step', () => {
    expect(only('token 1023').enabled).toBe(true)
    expect(only('token 1024').title).toBe(
      'No token 1\u2009024 at step 23: the longest request has 1\u2009024 tokens',
    )
    expect(only('token 1023 step 22').enabled).toBe(false)
    expect(only('token 1023', 'run', { step: 22 }).enabled).toBe(false)
  })

  it('have virtual pages with their tokens', () => {
    expect(only('column 15')).toMatchObject({
      title: 'Virtual page 15 of request 1: tokens 960 to 1\u2009023',
      selection: { request: 1, token: 960 },
    })
    expect(only('column 16').enabled).toBe(false)
  })

  it('are all that a bare number can be', () => {
    expect(places('1').map(({ kind }) => kind)).toEqual(['Step', 'Request', 'Rank', 'Layer', 'Token'])
    expect(places('600').map(({ kind }) => kind)).toEqual(['Token'])
  })

  it('are not taken for what stages and words are searched at', () => {
    expect(places('decode_attn step 3')).toEqual([])
  })
})

describe('the question to the store', () => {
  const question = (text: string) => questionOf('r', termsOf(text))

  it('has stages, pages and words at the places that are named', () => {
    expect(question('attn step 3 rank 1')).toEqual({
      run: 'r',
      stages: ['decode_attn'],
      page: null,
      words: ['attn'],
      step: 3,
      layer: null,
      rank: 1,
      request: null,
      limit: 30,
    })
    expect(question('page 17')).toMatchObject({ page: 17, stages: [], words: [] })
    expect(question('17')).toMatchObject({ page: 17 })
  })

  it('is for the events of a place that is named alone, and none where the store has nothing of it', () => {
    expect(question('step 3')).toMatchObject({ words: ['events'], step: 3 })
    expect(question('token 3')).toBeNull()
    expect(question('token 3 step 1')).toBeNull()
    expect(question('head 3')).toBeNull()
    expect(question('')).toBeNull()
  })
})

describe('what the store finds', () => {
  const question = questionOf('r', termsOf('page 17'))
  if (question === null) throw new Error('pages are asked for')

  it('leads to spans and notes with their surroundings, to pages by their first token, and to events', () => {
    const [page, span, event, note] = traceFound(
      question,
      {
        pages: [{ request: 1, column: 2, step: 4 }],
        spans: [
          {
            rank: 2,
            step: 3,
            layer: -1,
            stage: 'metadata',
            startNs: 5000,
            durNs: 100,
            provenance: 'emulated',
          },
        ],
        events: [
          {
            step: 3,
            layer: -1,
            rank: null,
            request: null,
            timeNs: 7,
            kind: 'check_failed',
            severity: 'error',
            message: 'Off.',
          },
        ],
        notes: [
          {
            rank: 1,
            stage: 'merge',
            startNs: 1000,
            durNs: 10,
            step: 2,
            layer: 0,
            text: 'Why?',
            changedAt: '2026-01-01',
          },
        ],
      },
      info,
    )
    expect(page).toMatchObject({
      title: 'Page 17: virtual page 2 of request 1, tokens 128 to 191, from step 4',
      view: 'pages',
      selection: { request: 1, token: 128, page: 17 },
    })
    expect(span).toMatchObject({
      kind: 'Span',
      view: 'timeline',
      selection: { step: 3, rank: 2, timeNs: 5000 },
      zoom: [4600, 5500],
    })
    expect(span?.title).toBe('metadata, rank 2, step 3: 100\u2009ns (emulated)')
    expect(span?.selection).not.toHaveProperty('layer')
    expect(event).toMatchObject({
      kind: 'Event, error',
      title: 'Off.',
      selection: { step: 3, layer: null, rank: null, request: null },
    })
    expect(note).toMatchObject({
      kind: 'Note',
      title: 'Why? (merge, rank 1, step 2)',
      view: 'timeline',
      selection: { step: 2, rank: 1, layer: 0, timeNs: 1000 },
      zoom: [960, 1050],
    })
  })

  it('says when there is more than is listed', () => {
    const span = { rank: 0, step: 0, layer: 0, stage: 'merge', startNs: 0, durNs: 9, provenance: 'measured' }
    const spans = Array.from({ length: 30 }, (_, i) => ({ ...span, startNs: i * 10 }))
    const results = traceFound(question, { pages: [], spans, events: [], notes: [] }, info)
    expect(results).toHaveLength(31)
    expect(results.at(-1)).toMatchObject({
      title: 'These are the 30 longest spans; name a step, rank, layer or request for others',
      enabled: false,
    })
  })

  it('has a name of its own for each result', () => {
    const same = { step: 3, layer: 0, rank: 0, request: 0, timeNs: 7, kind: 'k', severity: 's', message: 'm' }
    const results = traceFound(question, { pages: [], spans: [], events: [same, same], notes: [] }, info)
    expect(new Set(results.map(({ id }) => id)).size).toBe(2)
  })
})
