import { describe, expect, it } from 'vitest'
import { type EventNumbers, eventKind, eventText } from '../../../app/messages/events.ts'
import { EVENT_KINDS } from '../../../app/trace/stages.ts'

const event: EventNumbers = {
  kind: 'nan_in_partial',
  step: 12,
  layer: 1,
  rank: 2,
  request: 3,
  row: 0,
  value: 5,
  limit: 0,
}

describe('sentences of events', () => {
  it('count all and name the first place', () => {
    expect(eventText(event).message).toBe(
      '5 NaN values in the partials of step 12, first on rank 2, layer 1, request 3, row 0.',
    )
  })

  it('leave out what does not apply', () => {
    const full: EventNumbers = {
      ...event,
      kind: 'pool_full',
      layer: -1,
      rank: -1,
      row: -1,
      value: 9,
      limit: 8,
    }
    expect(eventText(full).message).toBe(
      'The page pool is full at step 12: the batch needs 9 pages, the pool of a rank has 8, first on request 3.',
    )
  })

  it('use the singular for one', () => {
    expect(eventText({ ...event, value: 1 }).message).toMatch(/^1 NaN value in/)
    expect(eventText({ ...event, kind: 'nan_in_lse', value: 1 }).message).toMatch(/^1 NaN log-sum-exp in/)
  })

  it('stay valid JSON when a number is not finite', () => {
    const { detail, message } = eventText({ ...event, kind: 'check_failed', value: Number.NaN, limit: 0.01 })
    expect(JSON.parse(detail)).toEqual({ row: 0, value: 'NaN', limit: 0.01 })
    expect(message).toContain('off the reference by NaN, allowed is 1.00e-2')
  })

  it('say why kernels were not recorded, in words or by numbers', () => {
    const missing: EventNumbers = { ...event, kind: 'kernels_not_recorded', value: 0, limit: 0 }
    expect(eventText({ ...missing, reason: 'CUPTI is missing' }).message).toBe(
      'The kernels of step 12 were not recorded: CUPTI is missing.',
    )
    expect(eventText({ ...missing, value: 411, limit: 412 }).message).toBe(
      'The kernels of step 12 were not recorded: CUPTI gave 411 records, which are not its 412.',
    )
    expect(eventText({ ...missing, kind: 'kernels_recorded', value: 412, limit: 640 }).message).toBe(
      '412 kernels, copies or fills of step 12 recorded by CUPTI, within 640 ns of its stages; such a step is slower.',
    )
  })

  it.each(EVENT_KINDS)('say one sentence without holes for %s', (kind) => {
    const { message, severity } = eventText({ ...event, kind })
    expect(message).toMatch(/^[A-Z0-9].*\.$/)
    expect(message).not.toMatch(/undefined|NaN,|-1/)
    expect(['info', 'warning', 'error']).toContain(severity)
  })

  it('know the native codes and no others', () => {
    expect(eventKind(0)).toBe('nan_in_partial')
    expect(eventKind(EVENT_KINDS.length)).toBeUndefined()
  })
})
