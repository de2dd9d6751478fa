import { describe, expect, it } from 'vitest'
import {
  CREDIT_BYTES,
  type EngineEvent,
  MESSAGE_BYTES,
  type TraceMessage,
  traceMessageSchema,
} from '../../../app/protocol/engine.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import type { Device } from '../../../app/run/engine-config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { PROVENANCES, type Provenance, STAGES, type Stage } from '../../../app/trace/stages.ts'
import { captureMessages } from '../../../main/engine/captures.ts'
import { type Driver, startRun } from '../../../main/engine/driver.ts'
import { type FakeEngine, fakeEngine, GPU, NativeError } from './fake-run.ts'

const configured = (input: RunConfigInput = {}) => {
  const parsed = parseRunConfig(input, 'tiny')
  if (!parsed.ok) throw new Error(parsed.issues.map((i) => i.message).join())
  return parsed.config
}

const bytesOf = (message: TraceMessage): number => ('bytes' in message ? message.bytes : 0)

interface Scene {
  readonly driver: Driver
  readonly messages: TraceMessage[]
  readonly events: EngineEvent[]
  readonly ended: () => Extract<EngineEvent, { type: 'ended' }> | undefined
}

/** A driver with a store that answers each message by `answer`; by default it takes everything at once. */
const play = (
  engine: FakeEngine,
  answer: (message: TraceMessage, driver: Driver) => void = take,
  input: RunConfigInput = {},
  device: Device = 'cpu',
): Scene => {
  const messages: TraceMessage[] = []
  const events: EngineEvent[] = []
  const driver: Driver = startRun(
    { runId: 'r', bundle: '/nowhere/r.dcp', name: 'r', config: configured(input), device },
    {
      addon: engine.addon,
      report: (event) => events.push(event),
      post: (message) => {
        messages.push(traceMessageSchema.parse(message))
        setImmediate(() => answer(message, driver))
      },
    },
  )
  return {
    driver,
    messages,
    events,
    ended: () => events.find((e): e is Extract<EngineEvent, { type: 'ended' }> => e.type === 'ended'),
  }
}

const take = (message: TraceMessage, driver: Driver): void => {
  if ('bytes' in message) driver.storeReply({ type: 'ack', runId: 'r', bytes: message.bytes })
  if (message.type === 'end') driver.storeReply({ type: 'closed', runId: 'r', status: message.status })
}

const types = (messages: readonly TraceMessage[]): string[] => messages.map((m) => m.type)

describe('captures', () => {
  it('say in which base the merge took the lse, which a fault makes another', async () => {
    const said = (input: RunConfigInput, rank: number): string | undefined => {
      const capture = { step: 0, layer: 0, rank, tensors: [] }
      const [message] = captureMessages('r', configured(input), capture)
      if (message?.type !== 'file') throw new Error('a capture is a file')
      return /"lse_base":"(.)"/.exec(new TextDecoder().decode(message.data))?.[1]
    }
    const faults = [{ fault: 'lse-base-mismatch' as const, ranks: [1] }]
    expect([said({}, 1), said({ faults }, 0), said({ faults }, 1), said({ faults }, -1)]).toEqual([
      'e',
      'e',
      '2',
      'e',
    ])
  })
})

describe('the driver of a run', () => {
  it('begins, hands over every step, ends and reports complete', async () => {
    const engine = fakeEngine({ steps: 5 })
    const scene = play(engine)
    await scene.driver.done
    expect(types(scene.messages).at(0)).toBe('begin')
    expect(scene.messages.at(-1)).toMatchObject({ type: 'end', uncertaintyNs: 7 })
    const steps = scene.messages.flatMap((m) =>
      m.type === 'chunk' && m.chunk.table === 'steps' ? [Number(m.chunk.columns.step?.[0])] : [],
    )
    expect(steps).toEqual([0, 1, 2, 3, 4])
    expect(scene.ended()).toEqual({ type: 'ended', runId: 'r', status: 'complete' })
    expect(engine.disposed()).toBe(1)
  })

  it('never has more than the credit unacknowledged, and no message above the limit', async () => {
    const engine = fakeEngine({ steps: 12, spansPerStep: 400_000 })
    let acknowledged = 0
    let most = 0
    const scene = play(engine, (message, driver) => {
      const posted = scene.messages.reduce((sum, m) => sum + bytesOf(m), 0)
      most = Math.max(most, posted - acknowledged)
      expect(bytesOf(message)).toBeLessThanOrEqual(MESSAGE_BYTES)
      acknowledged += bytesOf(message)
      take(message, driver)
    })
    await scene.driver.done
    expect(most).toBeGreaterThan(CREDIT_BYTES / 2)
    expect(most).toBeLessThanOrEqual(CREDIT_BYTES)
    const rows = scene.messages.reduce(
      (sum, m) => sum + (m.type === 'chunk' && m.chunk.table === 'spans' ? m.chunk.rows : 0),
      0,
    )
    expect(rows).toBe(12 * 400_000)
  })

  it('tells the engine how long it waited for the store, so that it becomes a stall span', async () => {
    const behind = fakeEngine({ steps: 4, spansPerStep: 1_000_000 })
    await play(behind).driver.done
    expect(behind.waited[0]).toBe(0)
    expect(Math.max(...behind.waited)).toBeGreaterThan(0)
    const ahead = fakeEngine({ steps: 4 })
    await play(ahead).driver.done
    expect(ahead.waited).toEqual([0, 0, 0, 0])
  })

  it('stops when the store fails, and says why', async () => {
    const engine = fakeEngine({ steps: 1_000_000 })
    const scene = play(engine, (message, driver) => {
      if (message.type === 'chunk')
        driver.storeReply({ type: 'failed', runId: 'r', error: 'the disk is full' })
      else take(message, driver)
    })
    await scene.driver.done
    expect(scene.ended()).toMatchObject({ status: 'failed', error: 'the disk is full', code: 'ERR_STORE' })
    expect(types(scene.messages)).not.toContain('end')
    expect(engine.disposed()).toBe(1)
  })

  it('stops when the store is gone', async () => {
    const engine = fakeEngine({ steps: 1_000_000 })
    const scene = play(engine, (message, driver) => {
      if (message.type === 'chunk') driver.storeGone()
    })
    await scene.driver.done
    expect(scene.ended()).toMatchObject({ status: 'interrupted', code: 'ERR_STORE' })
  })

  it('ends as stopped with what was recorded when it is stopped', async () => {
    const engine = fakeEngine({ steps: 1_000_000 })
    const scene = play(engine, (message, driver) => {
      take(message, driver)
      if (message.type === 'chunk' && Number(message.chunk.columns.step?.[0]) === 3) driver.stop()
    })
    await scene.driver.done
    expect(scene.ended()).toMatchObject({ status: 'stopped' })
    expect(scene.messages.at(-1)).toMatchObject({ type: 'end', status: 'stopped', dropped: 0 })
  })

  it('does no step while paused and goes on afterwards', async () => {
    const engine = fakeEngine({ steps: 6 })
    const scene = play(engine)
    scene.driver.pause()
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(engine.calls).toEqual(['fill'])
    expect(scene.events.at(-1)).toMatchObject({ type: 'phase', phase: 'paused' })
    scene.driver.resume()
    await scene.driver.done
    expect(scene.ended()).toMatchObject({ status: 'complete' })
  })

  it('can be stopped while paused', async () => {
    const scene = play(fakeEngine({ steps: 6 }))
    scene.driver.pause()
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
    scene.driver.stop()
    await scene.driver.done
    expect(scene.ended()).toMatchObject({ status: 'stopped' })
  })

  it('tells the store nothing when the engine refuses the run', async () => {
    const createError = new NativeError('ERR_MEMORY', 'needs 9 TB, available 1 GB')
    const scene = play(fakeEngine({ steps: 1, createError }))
    await scene.driver.done
    expect(scene.messages).toEqual([])
    expect(scene.ended()).toEqual({
      type: 'ended',
      runId: 'r',
      status: 'failed',
      error: 'needs 9 TB, available 1 GB',
      code: 'ERR_MEMORY',
    })
  })

  it('keeps what was recorded before the engine failed', async () => {
    const error = new NativeError('ERR_POOL_FULL', 'the pool is full')
    const scene = play(fakeEngine({ steps: 9, failAt: 3, error }))
    await scene.driver.done
    const steps = scene.messages.filter((m) => m.type === 'chunk' && m.chunk.table === 'steps')
    expect(steps).toHaveLength(3)
    expect(scene.messages.at(-1)).toMatchObject({ type: 'end', status: 'failed', error: 'the pool is full' })
    expect(scene.ended()).toMatchObject({ status: 'failed', code: 'ERR_POOL_FULL' })
  })

  it('scales throughput to the whole model and says so', async () => {
    const scene = play(fakeEngine({ steps: 1 }), take, { model: { layers: 4, measuredLayers: 2 } })
    await scene.driver.done
    const chunk = scene.messages.flatMap((m) =>
      m.type === 'chunk' && m.chunk.table === 'steps' ? [m.chunk] : [],
    )
    // 4 tokens in 100 ns for what a step does once and 400 ns for half of the layers.
    expect(chunk[0]?.columns.tokens_per_s).toEqual(Float64Array.of(4e9 / 900))
    expect(chunk[0]?.columns).not.toHaveProperty('once_ns')
    expect(chunk[0]?.columns.provenance).toEqual(Uint8Array.of(2))
  })

  it('labels what is emulated where ranks share one GPU, and says so in the manifest', async () => {
    const stages: Stage[] = ['decode_attn', 'q_all_gather', 'lse_correct', 'graph_replay']
    const spanColumns = {
      stage: Uint8Array.from(stages, (stage) => STAGES.indexOf(stage)),
      collective_seq: Int32Array.of(-1, 0, -1, -1),
    }
    const cuda = { available: true, devices: [GPU] }
    const on = async (device: Device, dcpSize: number): Promise<Scene> => {
      const engine = fakeEngine({ steps: 1, spansPerStep: 4, spanColumns, cuda })
      const scene = play(engine, take, { parallel: { dcpSize } }, device)
      await scene.driver.done
      return scene
    }
    const provenances = ({ messages }: Scene, table: string): (Provenance | undefined)[] =>
      messages.flatMap((m) =>
        m.type === 'chunk' && m.chunk.table === table
          ? Array.from<unknown, Provenance | undefined>(
              m.chunk.columns.provenance ?? [],
              (code) => PROVENANCES[Number(code)],
            )
          : [],
      )
    const shared = await on('cuda', 4)
    expect(provenances(shared, 'spans')).toEqual(['measured', 'emulated', 'measured', 'emulated'])
    expect(provenances(shared, 'steps')).toEqual(['emulated'])
    expect(shared.messages[0]).toMatchObject({
      manifest: {
        emulated: expect.stringContaining('Ranks share one GPU in turn'),
        devices: [{ name: 'NVIDIA H200', kind: 'cuda', detail: expect.stringContaining('driver 580.65.06') }],
        clock: { alignment: 'one clock', uncertaintyNs: 7 },
      },
    })
    for (const scene of [await on('cuda', 1), await on('cpu', 4)]) {
      expect(provenances(scene, 'spans')).toEqual(new Array(4).fill('measured'))
      expect(provenances(scene, 'steps')).toEqual(['measured'])
      expect(scene.messages[0]).not.toHaveProperty('manifest.emulated')
    }
  })

  it('hands captures over as one file in pieces and notes what was left out', async () => {
    const data = new Float32Array(600_000).fill(1.5).buffer
    const capture = {
      step: 0,
      layer: 0,
      rank: 1,
      tensors: [{ name: 'lse', dtype: 'F32', shape: [600_000, 1], data }],
      leftOut: 'kv: too large',
    } as const
    const scene = play(fakeEngine({ steps: 1, captures: [capture] }))
    await scene.driver.done
    const files = scene.messages.flatMap((m) => (m.type === 'file' ? [m] : []))
    expect(files.map((f) => f.last)).toEqual([false, false, true])
    expect(files.every((f) => f.file === 'tensors/step=0/layer=0/rank=1.safetensors')).toBe(true)
    const whole = Buffer.concat(files.map((f) => f.data))
    const header = Number(whole.readBigUInt64LE(0))
    const json = JSON.parse(whole.subarray(8, 8 + header).toString())
    expect(json.__metadata__).toMatchObject({
      format: 'dcpscope-dump/1',
      rank: '1',
      dcp_size: '4',
      step: '0',
    })
    expect(whole.length).toBe(8 + header + data.byteLength)
    expect(whole.readFloatLE(8 + header + 4 * 599_999)).toBe(1.5)
    expect(scene.messages.at(-1)).toMatchObject({ captureNotes: ['step 0, layer 0, rank 1: kv: too large'] })
  })
})
