import { describe, expect, it } from 'vitest'
import type { RunConfigInput } from '../../../app/run/config.ts'
import {
  gpuIndex,
  ncclProblem,
  placementProblem,
  type RankGpu,
  rankGpu,
  ranksByGpu,
  sharesGpus,
  usableGpus,
  usesNccl,
} from '../../../app/run/gpus.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { GPU, NO_GPU } from '../engine/fake-run.ts'

const configured = (parallel: RunConfigInput['parallel']) => {
  const parsed = parseRunConfig({ parallel, engine: { device: 'cuda', ranks: 'processes' } }, 'tiny')
  if (!parsed.ok) throw new Error(parsed.issues.map((issue) => issue.message).join())
  return parsed.config
}

/** As many GPUs, of which all reach each other unless `peers` says otherwise. */
const machine = (count: number, peers?: (index: number) => number[]) =>
  Array.from({ length: count }, (_, index) => ({
    ...GPU,
    uuid: `GPU-${index}`,
    ...(peers === undefined ? {} : { peers: peers(index) }),
  }))

const ranksOn = (indices: readonly number[], devices = machine(8)): RankGpu[] =>
  indices.flatMap((index) => rankGpu(devices, index) ?? [])

describe('ranks on the GPUs of a machine', () => {
  it('take the GPU with their number on the machine, and share where there are fewer', () => {
    expect([0, 1, 2, 3].map((rank) => gpuIndex(rank, undefined, 2))).toEqual([0, 1, 0, 1])
    expect(gpuIndex(5, 1, 4)).toBe(1)
    // A launcher that shows each rank a GPU of its own.
    expect([0, 1, 2, 3].map((rank) => gpuIndex(rank, rank, 1))).toEqual([0, 0, 0, 0])
  })

  it('are told apart by the name of the GPU, whatever its number is in their process', () => {
    const shown = ['a', 'b'].flatMap((uuid) => rankGpu([{ ...GPU, uuid }], 0) ?? [])
    expect(sharesGpus(shown)).toBe(false)
    expect(sharesGpus(ranksOn([0, 1, 0]))).toBe(true)
    expect([...ranksByGpu(ranksOn([0, 1, 0])).values()]).toEqual([[0, 2], [1]])
  })

  it('count GPUs only where the engine can use them', () => {
    expect(usableGpus(undefined)).toBe(0)
    expect(usableGpus(NO_GPU)).toBe(0)
    expect(usableGpus({ available: false, devices: machine(2) })).toBe(0)
    expect(usableGpus({ available: true, devices: machine(2) })).toBe(2)
    expect(rankGpu(machine(1), 1)).toBeUndefined()
  })

  it.each([
    [
      'ag_rs',
      'parallel.comm: ag_rs goes through NCCL, which needs a GPU for each rank: 4 ranks, 2 GPUs; use p2p or fewer ranks',
    ],
    [
      'a2a',
      'parallel.comm: a2a goes through NCCL, which needs a GPU for each rank: 4 ranks, 2 GPUs; use p2p or fewer ranks',
    ],
    ['p2p', undefined],
  ] as const)('may share GPUs with p2p only (%s)', (comm, says) => {
    expect(placementProblem(configured({ comm }), ranksOn([0, 1, 0, 1]))).toBe(says)
    expect(placementProblem(configured({ comm }), ranksOn([0, 1, 2, 3]))).toBeUndefined()
  })

  it('meet through NCCL only where there are others', () => {
    expect(usesNccl(configured({ tpSize: 1, dcpSize: 1 }))).toBe(false)
    expect(placementProblem(configured({ tpSize: 1, dcpSize: 1 }), ranksOn([0]))).toBeUndefined()
  })

  it('need GPUs that reach each other for p2p, and name the two that do not', () => {
    const p2p = configured({ tpSize: 2, dcpSize: 2, comm: 'p2p' })
    const islands = machine(4, (index) => [index ^ 1])
    expect(placementProblem(p2p, ranksOn([0, 1], islands))).toBeUndefined()
    expect(placementProblem(p2p, ranksOn([0, 2], islands))).toBe(
      "parallel.comm: p2p needs GPUs that reach each other's memory, and NVIDIA H200 (GPU-0) of rank 0 does not reach " +
        'NVIDIA H200 (GPU-2) of rank 1; use ag_rs or a2a',
    )
    // Of a GPU that a process does not see it can say nothing.
    const shown = ['a', 'b'].flatMap((uuid) => rankGpu([{ ...GPU, uuid, peers: [] }], 0) ?? [])
    expect(placementProblem(p2p, shown)).toBeUndefined()
  })

  it('say why NCCL is missing, where it is asked for', () => {
    const nccl = { available: false, reason: 'libnccl.so.2 is not on this machine; install NCCL' }
    const cuda = { available: true, devices: machine(4), nccl }
    expect(ncclProblem(configured({ comm: 'a2a' }), cuda)).toBe(
      'parallel.comm: a2a needs NCCL, which cannot be used: libnccl.so.2 is not on this machine; install NCCL; or use p2p',
    )
    expect(ncclProblem(configured({ comm: 'p2p' }), cuda)).toBeUndefined()
    expect(ncclProblem(configured({}), { ...cuda, nccl: { available: true, version: '2.27.3' } })).toBe(
      undefined,
    )
    expect(ncclProblem(configured({}), { available: true, devices: machine(4) })).toBeUndefined()
  })
})
