import { describe, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { addon } from '../native/engine.ts'
import type { Placing } from '../native/rank-processes.ts'
import { skipReason } from './program.ts'
import { expectKilled, expectLost, expectRun, expectSame, LONG, nameOf, onGpus } from './rank-cases.ts'

const SUITE = 'the tests of ranks in processes with a GPU each'
const skipped = skipReason(SUITE) !== undefined

/** Why ranks cannot have a GPU each here, or not exchange so; undefined where they can. */
const whyNoPair = (): string | undefined => {
  if (skipped) return 'there is no GPU'
  const { devices } = addon.cuda()
  return devices.length < 2 ? `they need two GPUs, this machine has ${devices.length}` : undefined
}
const noPair = whyNoPair()
const { devices = [], nccl } = skipped ? {} : addon.cuda()
const noPeers =
  noPair ?? (devices[0]?.peers?.includes(1) === true ? undefined : 'GPU 0 does not reach the memory of GPU 1')
const noNccl = noPair ?? (nccl?.available === true ? undefined : (nccl?.reason ?? 'NCCL was not looked for'))
if (!skipped)
  for (const reason of new Set([noPeers, noNccl]))
    if (reason !== undefined) process.stderr.write(`${SUITE.toUpperCase()} ARE SKIPPED: ${reason}\n`)

const PAIR: Placing = { gpus: [0, 1] }
/** The second rank stays in a kernel, and the first one waits for it in another. */
const HANGS: Placing = { env: { DCPSCOPE_TEST_FAULT: 'decode_attn:1:3:hang' } }

describe.skipIf(noPeers !== undefined)('ranks with a GPU each that read each other by p2p', () => {
  for (const over of [
    {},
    { graph: true },
    { graph: true, replicateQ: true, qLen: 2 },
    { topk: 64, graph: true },
    { kvHeads: 16, headDim: 64, kvDtype: 'fp8', graph: true },
    { draft: true, qLen: 2, replicateQ: true, graph: true, captureLayers: [2] },
    { draft: true, qLen: 2, layers: 1, captureLayers: [0] },
  ] satisfies Partial<EngineConfig>[]) {
    const config = onGpus(over)
    it(`compute what ranks in turn compute (${nameOf(config)})`, () => expectSame(config, PAIR))
  }

  for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
    it(`lose one and end (${signal})`, () => expectLost(onGpus({ ...LONG, graph: true }), signal, PAIR))

  it('lose one in the middle of a step and end', () =>
    expectLost(onGpus(LONG), 'SIGKILL', { ...PAIR, ...HANGS }))

  it.each([false, true])('run from the command line (graph: %s)', (graph) => expectRun('p2p', graph))
})

describe.skipIf(noNccl !== undefined)('ranks with a GPU each that exchange by NCCL', () => {
  const variants: readonly Partial<EngineConfig>[] = [
    { comm: 'ag_rs' },
    { comm: 'ag_rs', wireFp32: true },
    { comm: 'ag_rs', replicateQ: true, qLen: 2 },
    { comm: 'a2a' },
    { comm: 'a2a', wireFp32: true, replicateQ: true },
    { comm: 'a2a', kvDtype: 'fp8_ds_mla', topk: 64, observer: true },
    { comm: 'ag_rs', kvHeads: 2, headDim: 128, qLen: 3 },
    { comm: 'a2a', lseLayout: '[B,H,q]', paddedHeads: 32, qLen: 2 },
    { comm: 'a2a', restarts: true, interleave: 2, pageSize: 32 },
    { comm: 'a2a', draft: true, qLen: 2, captureLayers: [2] },
    { comm: 'ag_rs', draft: true, qLen: 3, captureLayers: [2] },
  ]
  for (const over of variants)
    for (const graph of [false, true]) {
      const config = onGpus({ ...over, graph })
      // How NCCL rounds within a sum is its own affair.
      it(`compute what ranks in turn compute (${nameOf(config)})`, () =>
        expectSame(config, PAIR, config.comm === 'a2a'))
    }

  for (const comm of ['ag_rs', 'a2a'] as const)
    for (const graph of [false, true])
      for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
        it(`lose one and end (${comm}, ${signal}, ${graph ? 'graph' : 'eager'})`, () =>
          expectLost(onGpus({ ...LONG, comm, graph }), signal, PAIR))

  // Else a rank is mostly lost between two steps, when nothing on a GPU waits for it.
  for (const comm of ['ag_rs', 'a2a'] as const)
    it(`lose one in the middle of a step and end (${comm})`, () =>
      expectLost(onGpus({ ...LONG, comm }), 'SIGKILL', { ...PAIR, ...HANGS }))

  for (const comm of ['ag_rs', 'a2a'] as const) {
    const apart = { ...PAIR, network: true }
    it(`meet over the network as well (${comm})`, () =>
      expectSame(onGpus({ comm, graph: true }), apart, comm === 'a2a'))
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
      it(`lose one and end when they meet over the network (${comm}, ${signal})`, () =>
        expectLost(onGpus({ ...LONG, comm, graph: true }), signal, apart))
  }

  it.each(['ag_rs', 'a2a'])('run from the command line (%s)', (comm) => expectRun(comm, true))

  it.each(['ag_rs', 'a2a'])('end when a rank is killed in a run from the command line (%s)', (comm) =>
    expectKilled(comm, true, 'SIGKILL'),
  )
})
