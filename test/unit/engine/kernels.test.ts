import { describe, expect, it } from 'vitest'
import { type TraceMessage, traceMessageSchema } from '../../../app/protocol/engine.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { EVENT_KINDS, PROVENANCES, STAGES, type Stage } from '../../../app/trace/stages.ts'
import type { NativeChunk } from '../../../main/engine/addon.ts'
import { completeChunk } from '../../../main/engine/chunks.ts'
import { type Driver, startRun } from '../../../main/engine/driver.ts'
import { fakeEngine, GPU } from './fake-run.ts'

const stages: readonly Stage[] = ['decode_attn', 'out_reduce_scatter', 'decode_attn']
const kernels: NativeChunk = {
  table: 'kernels',
  rank: 1,
  rows: stages.length,
  columns: {
    name: Int32Array.of(1, 0, 1),
    stage: Uint8Array.from(stages, (stage) => STAGES.indexOf(stage)),
  },
  names: ['memcpy device to device', 'attend(Work)'],
}
const measured = { measuredLayers: 2, layers: 4 }

describe('recorded kernels', () => {
  it('get their names, and are emulated where they stand for what would go between devices', () => {
    const chunk = completeChunk(kernels, { ...measured, sharing: 'emulated' })
    expect(chunk.columns.name).toEqual(['attend(Work)', 'memcpy device to device', 'attend(Work)'])
    const [alone, between] = (['measured', 'emulated'] as const).map((p) => PROVENANCES.indexOf(p))
    expect(chunk.columns.provenance).toEqual(Uint8Array.of(alone ?? -1, between ?? -1, alone ?? -1))
    expect(chunk).not.toHaveProperty('names')
  })

  it('of a merge stand for what goes between devices with p2p alone', () => {
    const merge = {
      ...kernels,
      columns: { ...kernels.columns, stage: new Uint8Array(3).fill(STAGES.indexOf('merge')) },
    }
    for (const [mergesPeers, provenance] of [
      [false, 'measured'],
      [true, 'emulated'],
    ] as const) {
      const { columns } = completeChunk(merge, { ...measured, sharing: 'emulated', mergesPeers })
      expect(columns.provenance).toEqual(new Uint8Array(3).fill(PROVENANCES.indexOf(provenance)))
    }
  })

  it('are all measured where a rank has the device alone', () => {
    const chunk = completeChunk(kernels, { ...measured, sharing: 'none' })
    expect(chunk.columns.provenance).toEqual(new Uint8Array(3).fill(PROVENANCES.indexOf('measured')))
  })
})

/** All that the store gets of a run whose engine says this of kernels at its beginning and at its end. */
const messagesOf = async (
  problems: readonly [string | undefined, string | undefined],
): Promise<TraceMessage[]> => {
  const parsed = parseRunConfig({ engine: { device: 'cuda', kernelTrace: 'last' } }, 'tiny')
  if (!parsed.ok) throw new Error('the configuration is not valid')
  const messages: TraceMessage[] = []
  const { addon } = fakeEngine({
    steps: 1,
    cuda: { available: true, devices: [GPU] },
    kernelProblems: problems,
  })
  const driver: Driver = startRun(
    { runId: 'r', bundle: '/nowhere/r.dcp', name: 'r', config: parsed.config, device: 'cuda' },
    {
      addon,
      report: () => {},
      post: (given) => {
        const message = traceMessageSchema.parse(given)
        messages.push(message)
        setImmediate(() => {
          if ('bytes' in message) driver.storeReply({ type: 'ack', runId: 'r', bytes: message.bytes })
          if (message.type === 'end')
            driver.storeReply({ type: 'closed', runId: 'r', status: message.status })
        })
      },
    },
  )
  await driver.done
  return messages
}

describe('kernels that cannot be recorded', () => {
  it('are explained in the manifest from the beginning', async () => {
    const messages = await messagesOf(['CUPTI is missing', 'CUPTI is missing'])
    expect(messages[0]).toMatchObject({ manifest: { kernelNote: 'CUPTI is missing' } })
    expect(messages.at(-1)).toMatchObject({ type: 'end', kernelNote: 'CUPTI is missing' })
  })

  it('are explained at the end when that is known only then, and not at all when they were recorded', async () => {
    const late = await messagesOf([undefined, 'CUPTI gave 3 records'])
    expect(late[0]).not.toHaveProperty('manifest.kernelNote')
    expect(late.at(-1)).toMatchObject({ kernelNote: 'CUPTI gave 3 records' })
    for (const message of await messagesOf([undefined, undefined]))
      expect(message).not.toHaveProperty('kernelNote')
  })

  it('are an event with the same words', () => {
    const i32 = (value: number): Int32Array => Int32Array.of(value)
    const event: NativeChunk = {
      table: 'events',
      rank: -1,
      rows: 1,
      columns: {
        step: i32(3),
        layer: i32(-1),
        rank: i32(-1),
        request: i32(-1),
        time_ns: BigInt64Array.of(5n),
        kind: Uint8Array.of(EVENT_KINDS.indexOf('kernels_not_recorded')),
        row: i32(-1),
        value: Float64Array.of(0),
        limit: Float64Array.of(0),
      },
    }
    const { columns } = completeChunk(event, {
      ...measured,
      sharing: 'emulated',
      kernelProblem: 'CUPTI is missing',
    })
    expect(columns.message).toEqual(['The kernels of step 3 were not recorded: CUPTI is missing.'])
  })
})
