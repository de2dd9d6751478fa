import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BadMerged, type BadPartial, firstCause } from '../../../app/events/cause.ts'
import { causeText } from '../../../app/events/text.ts'

const partial = (over: Partial<BadPartial> = {}): BadPartial => ({
  step: 2,
  layer: 1,
  rank: 1,
  request: 3,
  qIndex: 0,
  kind: 'nan_in_row',
  odd: 5,
  merged: null,
  ...over,
})

const nan = (over: Partial<BadMerged> = {}): BadMerged => ({
  step: 2,
  layer: 1,
  request: 3,
  qIndex: 0,
  kind: 'nan_in_merged',
  rank: 0,
  value: 64,
  ...over,
})

const off = (over: Partial<BadMerged> = {}): BadMerged => nan({ kind: 'check_failed', value: 0.5, ...over })

const left = (over: Partial<BadPartial> = {}): BadPartial => partial({ kind: 'empty_row_left', ...over })

describe('the first cause', () => {
  it('is none where nothing is bad', () => {
    expect(firstCause([], [])).toEqual({ kind: 'none' })
  })

  it('is harmless where no merged row is bad, and names the earliest partial', () => {
    const early = left({ step: 1, rank: 3 })
    expect(firstCause([partial(), left({ step: 1, layer: 4 }), early], [])).toMatchObject({
      kind: 'harmless',
      first: { step: 1, layer: 1, rank: 3 },
    })
  })

  it('is the partials that the first NaN row was merged from, rank by rank', () => {
    const cause = firstCause(
      [
        partial({ rank: 3 }),
        partial({ rank: 1 }),
        partial({ rank: 0, request: 2 }),
        partial({ step: 5, rank: 0 }),
      ],
      [nan({ step: 5, layer: 0 }), off(), nan()],
    )
    expect(cause).toMatchObject({ kind: 'partial', before: null, merged: { kind: 'nan_in_merged', step: 2 } })
    if (cause.kind === 'partial') expect(cause.partials.map(({ rank }) => rank)).toEqual([1, 3])
  })

  it('is not what a kernel leaves in rows without keys while a row with keys is bad', () => {
    const cause = firstCause([left({ rank: 0 }), partial({ rank: 2 })], [nan()])
    expect(cause).toMatchObject({ kind: 'partial', partials: [{ rank: 2, kind: 'nan_in_row' }] })
  })

  it('is what was left in rows without keys where that surely went into the merge', () => {
    expect(firstCause([left()], [nan()])).toMatchObject({ kind: 'partial' })
    expect(firstCause([left({ merged: false })], [nan()])).toMatchObject({ kind: 'merge' })
    const quiet = { odd: 0 }
    expect(firstCause([left({ ...quiet, merged: true })], [off()])).toMatchObject({ kind: 'partial' })
    expect(firstCause([left(quiet)], [off()])).toMatchObject({ kind: 'finite', suspects: [{ rank: 1 }] })
    expect(firstCause([left({ ...quiet, merged: false })], [off()])).toMatchObject({
      kind: 'finite',
      suspects: [],
    })
  })

  it('is a row with keys that is bad, also where the merged row is only off', () => {
    const dropped = partial({ kind: 'lse_in_row' })
    expect(firstCause([dropped, left({ rank: 0, merged: true })], [off()])).toMatchObject({
      kind: 'partial',
      partials: [{ kind: 'lse_in_row' }],
    })
  })

  it('is the merge where all partials of the first NaN row were finite', () => {
    expect(firstCause([left({ odd: 0 }), partial({ request: 9 })], [nan()])).toMatchObject({ kind: 'merge' })
  })

  it('lies in finite values where a row is off and its partials look right', () => {
    expect(firstCause([partial({ request: 1 })], [off()])).toMatchObject({ kind: 'finite', before: null })
  })

  it('names what was bad before and reached no merged row', () => {
    const before = left({ step: 0, rank: 3, request: 1 })
    expect(firstCause([partial(), before], [nan()])).toMatchObject({ kind: 'partial', before })
    expect(firstCause([partial(), left({ layer: 0 })], [nan()])).toMatchObject({ before: { layer: 0 } })
  })

  it('does not depend on the order of the tables, nor on what comes after', () => {
    const place = fc.record({
      step: fc.nat(3),
      layer: fc.nat(2),
      rank: fc.nat(3),
      request: fc.nat(2),
      qIndex: fc.nat(1),
    })
    const partials = fc.uniqueArray(
      fc
        .tuple(place, fc.constantFrom('nan_in_row', 'inf_in_row', 'empty_row_left'), fc.nat(2))
        .map(([at, kind, odd]): BadPartial => ({ ...at, kind, odd, merged: null })),
      {
        selector: ({ step, layer, rank, request, qIndex }) => `${step} ${layer} ${rank} ${request} ${qIndex}`,
      },
    )
    const merged = fc.uniqueArray(
      fc.tuple(place, fc.boolean()).map(([at, isNan]): BadMerged => (isNan ? nan(at) : off(at))),
      { selector: ({ step, kind }) => `${step} ${kind}` },
    )
    fc.assert(
      fc.property(partials, merged, (rows, events) => {
        const cause = firstCause(rows, events)
        expect(firstCause([...rows].reverse(), [...events].reverse())).toEqual(cause)
        if ('merged' in cause) {
          const { step } = cause.merged
          expect(
            firstCause(
              rows.filter((row) => row.step <= step),
              events.filter((event) => event.step <= step),
            ),
          ).toEqual(cause)
          // A merged row is never blamed on a partial of another row.
          if (cause.kind === 'partial')
            for (const { layer, request, qIndex } of cause.partials)
              expect({ layer, request, qIndex }).toEqual({
                layer: cause.merged.layer,
                request: cause.merged.request,
                qIndex: cause.merged.qIndex,
              })
        }
        expect(causeText(cause)[0]).toMatch(/\.$/)
      }),
    )
  })
})

describe('the cause in words', () => {
  it('names ranks, place and what follows', () => {
    const [headline, more] = causeText(firstCause([partial({ rank: 1 }), partial({ rank: 3 })], [nan()]))
    expect(headline).toBe(
      'First: the partial of ranks 1 and 3 is NaN, at step 2, layer 1, request 3, query row 0.',
    )
    expect(more).toBe(
      'The row has keys there, so attention itself returned it; the merged row became NaN, first seen on rank 0.',
    )
  })

  it('says where only a capture tells which of several partials it was', () => {
    const of = (...partials: BadPartial[]): string | undefined => causeText(firstCause(partials, [nan()]))[1]
    expect(of(left(), left({ rank: 2 }))).toContain('at least one of these went into the merge')
    expect(of(left({ merged: true }), left({ rank: 2, merged: true }))).toContain(
      'here it went into the merge',
    )
    expect(of(left(), left({ rank: 2, merged: false }))).toContain('here it went into the merge')
  })

  it('says what would settle a doubt', () => {
    const [headline, more] = causeText(firstCause([left({ odd: 0 })], [off({ value: 3756.5 })]))
    expect(headline).toBe(
      'The first wrong row is off the reference by 3.76e+3, at step 2, layer 1, request 3, query row 0.',
    )
    expect(more).toContain('Kernels left values in it on rank 1')
    expect(more).toContain('capture this step and layer')
  })
})
