import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type EngineEvent, type TraceMessage, traceMessageSchema } from '../../../app/protocol/engine.ts'
import type { Assignment, Hello } from '../../../app/protocol/ranks.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import type { CudaInfo, NcclInfo } from '../../../app/run/machine.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { PROVENANCES } from '../../../app/trace/stages.ts'
import type { Member, NativeAddon, RunFacts } from '../../../main/engine/addon.ts'
import { apartProblem } from '../../../main/ranks/gpu-problem.ts'
import { type GroupDeps, startGroup } from '../../../main/ranks/group.ts'
import { runMember } from '../../../main/ranks/member.ts'
import { fakeEngine, GPU, NO_GPU } from '../engine/fake-run.ts'

/** What a run of ranks on the GPUs of a machine came to. */
interface Scene {
  readonly ended: Extract<EngineEvent, { type: 'ended' }>
  readonly messages: readonly TraceMessage[]
  /** Of each rank, in the order in which they began. */
  readonly members: readonly Member[]
  /** Ranks whose process was started. */
  readonly started: readonly number[]
  /** Why the run ended, for ranks that a launcher started. */
  readonly told: readonly (string | undefined)[]
}

const machine = (gpus: number, nccl: NcclInfo = { available: true, version: '2.27.3' }): CudaInfo =>
  gpus === 0
    ? NO_GPU
    : {
        available: true,
        devices: Array.from({ length: gpus }, (_, i) => ({ ...GPU, uuid: `GPU-${i}` })),
        nccl,
      }

/** What a rank says of its run, the more often it is asked. */
type Facts = (rank: number, asked: number) => RunFacts

const addonOn = (cuda: CudaInfo, members: Member[], facts?: Facts): NativeAddon => {
  const { addon } = fakeEngine({ steps: 2, cuda })
  return {
    ...addon,
    createRun: (config, member) => {
      if (member !== undefined) members.push(member)
      const run = addon.createRun(config)
      let asked = 0
      return facts === undefined ? run : { ...run, facts: () => facts(member?.rank ?? 0, asked++) }
    },
    clockNs: () => process.hrtime.bigint(),
    unlinkSegment: () => {},
    measureReadBandwidth: async () => 1,
  }
}

/** A port that nobody listens at. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

/**
 * Runs a group whose ranks are all of this process; `seen` is what each of them sees of the machine. `launched`: by a
 * launcher, which says the number on the machine.
 */
const run = async (
  input: RunConfigInput,
  cuda: CudaInfo,
  seen: (rank: number) => CudaInfo = () => cuda,
  launched = false,
  facts?: Facts,
): Promise<Scene> => {
  const parsed = parseRunConfig({ engine: { ranks: 'processes', device: 'cuda' }, ...input }, 'tiny')
  if (!parsed.ok) throw new Error(parsed.issues.map((issue) => issue.message).join())
  const messages: TraceMessage[] = []
  const members: Member[] = []
  const started: number[] = []
  let ended: Scene['ended'] | undefined
  const startRank: GroupDeps['startRank'] = (assignment: Assignment) => {
    started.push(assignment.rank)
    const asked = new AbortController()
    const done = runMember(addonOn(seen(assignment.rank), members, facts), assignment, asked.signal)
    return {
      ended: done.then(({ over }) => ({ over, how: 'ended' })),
      stop: () => asked.abort(),
      kill: () => {},
    }
  }
  const world = parsed.config.parallel.dcpSize
  const meeting = { world, address: '127.0.0.1', port: launched ? await freePort() : 0 }
  const seat = launched ? { ...meeting, rank: 0, localRank: 0 } : undefined
  const others = Array.from({ length: launched ? world - 1 : 0 }, (_, i) =>
    startRank({ ...meeting, rank: i + 1, localRank: i + 1, token: '', config: parsed.config }),
  )
  const group = startGroup(
    { runId: 'r', bundle: '/nowhere/r.dcp', name: 'r', config: parsed.config, device: 'cuda', seat },
    {
      addon: addonOn(cuda, members),
      startRank,
      report: (event) => {
        if (event.type === 'ended') ended = event
      },
      post: (given) => {
        const message = traceMessageSchema.parse(given)
        messages.push(message)
        setImmediate(() => {
          if ('bytes' in message) group.storeReply({ type: 'ack', runId: 'r', bytes: message.bytes })
          if (message.type === 'end') group.storeReply({ type: 'closed', runId: 'r', status: message.status })
        })
      },
    },
  )
  await group.done
  const told = await Promise.all(others.map(async (rank) => (await rank.ended).over?.error))
  if (ended === undefined) throw new Error('the run did not end')
  return { ended, messages, members, started, told }
}

const manifestIn = ({ messages }: Scene): Manifest => {
  const begin = messages.find((message) => message.type === 'begin')
  if (begin?.type !== 'begin') throw new Error('the run did not begin')
  return begin.manifest
}

/** Provenances of all rows of a table. */
const provenancesIn = ({ messages }: Scene, table: string): readonly string[] => {
  const codes = messages.flatMap((message) =>
    message.type === 'chunk' && message.chunk.table === table
      ? [...(message.chunk.columns.provenance ?? [])]
      : [],
  )
  return [...new Set(codes.map((code) => PROVENANCES[Number(code)] ?? ''))]
}

const two = { tpSize: 2, dcpSize: 2 } as const

describe('ranks as processes on GPUs', () => {
  it('have a GPU each where there are enough, and all is measured', async () => {
    const scene = await run({ parallel: two }, machine(2))
    expect(scene.ended).toMatchObject({ status: 'complete' })
    expect(scene.members.map(({ rank, gpu, creates }) => [rank, gpu, creates])).toEqual([
      [0, 0, true],
      [1, 1, false],
    ])
    const manifest = manifestIn(scene)
    expect(manifest).not.toHaveProperty('emulated')
    expect(manifest).not.toHaveProperty('timeSliced')
    expect(manifest.processes?.map(({ device }) => device)).toEqual([
      'NVIDIA H200, GPU-0',
      'NVIDIA H200, GPU-1',
    ])
    expect(manifest.devices).toMatchObject([{ kind: 'cuda' }, { kind: 'cuda' }])
    expect(provenancesIn(scene, 'spans')).toEqual(['measured'])
    expect(provenancesIn(scene, 'steps')).toEqual(['measured'])
  })

  it('say within how much the worst of their clocks is known, also when one can say it no more', async () => {
    const facts: Facts = (rank, asked) => {
      if (rank === 1 && asked > 0) throw new Error('the GPU does not answer')
      return { alignment: 'one clock', uncertaintyNs: [7, 90][rank] ?? 0, attention: 'sm90' }
    }
    const scene = await run({ parallel: two }, machine(2), undefined, false, facts)
    expect(scene.ended).toMatchObject({ status: 'complete' })
    expect(manifestIn(scene).clock).toMatchObject({ alignment: 'one clock', uncertaintyNs: 90 })
    expect(scene.messages.at(-1)).toMatchObject({ type: 'end', uncertaintyNs: 90 })
  })

  it('share GPUs with p2p where there are fewer, and every time says so', async () => {
    const scene = await run({ parallel: { comm: 'p2p' } }, machine(2))
    expect(scene.ended).toMatchObject({ status: 'complete' })
    expect(scene.members.map(({ rank, gpu }) => [rank, gpu]).sort()).toEqual([
      [0, 0],
      [1, 1],
      [2, 0],
      [3, 1],
    ])
    const manifest = manifestIn(scene)
    expect(manifest.timeSliced).toMatch(/^There are more ranks than GPUs: .* time-sliced/)
    expect(manifest).not.toHaveProperty('emulated')
    expect(manifest.devices).toHaveLength(2)
    expect(provenancesIn(scene, 'spans')).toEqual(['time-sliced'])
    expect(provenancesIn(scene, 'steps')).toEqual(['time-sliced'])
  })

  const refused = async (...given: Parameters<typeof run>) => {
    const { ended, messages, members, started } = await run(...given)
    expect([messages, members]).toEqual([[], []])
    return { code: ended.code, error: ended.error, started: started.length }
  }

  it('are refused before any is started where NCCL would need more GPUs, or is missing', async () => {
    expect(await refused({}, machine(2))).toEqual({
      code: 'ERR_CONFIG',
      error:
        'parallel.comm: ag_rs goes through NCCL, which needs a GPU for each rank: 4 ranks, 2 GPUs; use p2p or fewer ranks',
      started: 0,
    })
    expect(await refused({ parallel: two }, machine(2, { available: false, reason: 'no NCCL' }))).toEqual({
      code: 'ERR_ENGINE',
      error: 'parallel.comm: ag_rs needs NCCL, which cannot be used: no NCCL; or use p2p',
      started: 0,
    })
  })

  it('are refused together where GPUs that they share have no memory for all', async () => {
    // The fake run takes 301 MB of device memory, and a process takes some for itself.
    const small = machine(1)
    const devices = small.devices.map((gpu) => ({ ...gpu, freeBytes: 2e9 }))
    expect(await refused({ parallel: { ...two, comm: 'p2p' } }, { ...small, devices })).toEqual({
      code: 'ERR_MEMORY',
      error:
        '2 ranks share the GPU NVIDIA H200 and need 1.0 GiB of its memory each, available 1.9 GiB; ' +
        'use fewer ranks or less context',
      started: 0,
    })
  })

  it('are no group with another NCCL, or with a rank on the CPU', async () => {
    const other = machine(2, { available: true, version: '2.26.2' })
    const mixed = await refused({ parallel: two }, machine(2), (rank) => (rank === 1 ? other : machine(2)))
    expect(mixed).toMatchObject({
      code: 'ERR_CONFIG',
      error: expect.stringMatching(/^rank 1 .* has another version: NCCL 2.26.2 there, 2.27.3 on rank 0$/),
    })
    const auto = { parallel: two, engine: { ranks: 'processes', device: 'auto' } } as const
    const apart = await refused(auto, machine(2), (rank) => machine(rank === 1 ? 0 : 2))
    expect(apart).toMatchObject({
      code: 'ERR_CONFIG',
      error: expect.stringMatching(
        /^rank 1 .* computes on .*, rank 0 on NVIDIA H200, GPU-0: name one kind of device in engine.device$/,
      ),
    })
  })

  it('that cannot use a GPU say why', async () => {
    const apart = await refused({ parallel: two }, machine(2), (rank) => machine(rank === 1 ? 0 : 2))
    expect(apart).toMatchObject({
      code: 'ERR_ENGINE',
      error: 'rank 1 ended: there is no NVIDIA driver on this machine before all ranks had come',
    })
  })

  it('of a launcher take the GPU with their number on the machine, or the only one that they are shown', async () => {
    const all = await run({ parallel: two }, machine(2), undefined, true)
    expect(all.ended).toMatchObject({ status: 'complete' })
    expect(all.members.map(({ rank, gpu }) => [rank, gpu])).toEqual([
      [0, 0],
      [1, 1],
    ])
    const only = (rank: number): CudaInfo => {
      const { devices, ...rest } = machine(2)
      return { ...rest, devices: devices.slice(rank, rank + 1) }
    }
    const shown = await run({ parallel: two }, only(0), only, true)
    expect(shown.ended).toMatchObject({ status: 'complete' })
    expect(shown.members.map(({ gpu }) => gpu)).toEqual([0, 0])
    expect(manifestIn(shown)).not.toHaveProperty('timeSliced')
  })

  it('of a launcher are all told what keeps them from their GPUs', async () => {
    const says = 'parallel.comm: ag_rs goes through NCCL, which needs a GPU for each rank: 2 ranks, 1 GPU'
    const { ended, told, messages } = await run({ parallel: two }, machine(1), undefined, true)
    expect([messages, ended.code]).toEqual([[], 'ERR_CONFIG'])
    for (const error of [ended.error, ...told]) expect(error).toContain(says)
    const none = machine(2, { available: false, reason: 'no NCCL' })
    const lacking = await run({ parallel: two }, none, undefined, true)
    for (const error of [lacking.ended.error, ...lacking.told])
      expect(error).toContain('ag_rs needs NCCL, which cannot be used: no NCCL')
  })

  it('run on the CPU by auto where there is no GPU for each', async () => {
    const engine = { ranks: 'processes', device: 'auto' } as const
    const scene = await run({ parallel: two, engine }, machine(1))
    expect(scene.ended).toMatchObject({ status: 'complete' })
    expect(manifestIn(scene).devices).toMatchObject([{ kind: 'cpu' }])
  })

  it('may be on several machines where they exchange through NCCL alone', () => {
    const config = (comm: 'ag_rs' | 'p2p') => {
      const parsed = parseRunConfig({ parallel: { ...two, comm } }, 'tiny')
      if (!parsed.ok) throw new Error('no configuration')
      return parsed.config
    }
    const hello = (rank: number, system: string, gpu: Hello['gpu']): Hello => ({
      ...{
        type: 'hello',
        product: 'dcpscope',
        token: '',
        rank,
        world: 2,
        host: `node-${rank}`,
        system,
        pid: 1,
      },
      ...{ versions: {}, device: '', gpu, config: {} },
    })
    const gpu = { name: 'H200', id: 'GPU-0', freeBytes: 1, unreachable: [], versions: {} }
    const apart = [hello(0, 'a', gpu), hello(1, 'b', { ...gpu, id: 'GPU-1' })]
    expect(apartProblem(config('ag_rs'), apart)).toBeUndefined()
    expect(apartProblem(config('p2p'), [hello(0, 'a', gpu), hello(1, 'a', gpu)])).toBeUndefined()
    expect(apartProblem(config('p2p'), apart)).toMatchObject({
      code: 'ERR_CONFIG',
      message:
        "parallel.comm: p2p reads the memory of other ranks' GPUs, and rank 1 (node-1) is on another machine than " +
        'rank 0 (node-0), or sees another /dev/shm; use ag_rs or a2a',
    })
    // On CPUs p2p merges what the network has brought.
    expect(apartProblem(config('p2p'), [hello(0, 'a', undefined), hello(1, 'b', undefined)])).toBeUndefined()
  })
})
