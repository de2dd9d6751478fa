import { describe, expect, it } from 'vitest'
import { gpuLinks, linksText, missingLinks } from '../../../app/run/gpu-links.ts'
import type { CudaInfo } from '../../../app/run/machine.ts'
import { GPU, NO_GPU } from '../engine/fake-run.ts'

const machine = (peers: readonly number[][], nccl: CudaInfo['nccl']): CudaInfo => ({
  available: true,
  devices: peers.map((reached) => ({ ...GPU, peers: reached })),
  ...(nccl === undefined ? {} : { nccl }),
})

const NCCL = { available: true, version: '2.27.3' }
const NONE = { available: false, reason: 'no libnccl.so.2; install NCCL' }

/** GPUs that all reach each other, with as many NVLink links up. */
const withLinks = (links: readonly (number | undefined)[]): CudaInfo => ({
  available: true,
  devices: links.map((nvLinks, own) => ({
    ...GPU,
    peers: links.flatMap((_, other) => (other === own ? [] : [other])),
    ...(nvLinks === undefined ? {} : { nvLinks }),
  })),
  nccl: NCCL,
})

const said = (cuda: CudaInfo): readonly string[] => {
  const links = gpuLinks(cuda)
  return links === undefined ? [] : [...linksText(links), ...missingLinks(links)]
}

describe('what ranks with a GPU each can exchange by', () => {
  it.each<[string, CudaInfo, readonly string[]]>([
    [
      'all reach all',
      machine([[1], [0]], NCCL),
      ['NCCL         yes, 2.27.3', "Peer access  all 2 GPUs reach each other's memory"],
    ],
    [
      'pairs',
      machine([[1], [0], [0, 1, 3], []], NCCL),
      [
        'NCCL         yes, 2.27.3',
        'Peer access  GPU 0 reaches 1; GPU 1 reaches 0; GPU 2 reaches 0, 1 and 3; GPU 3 reaches none',
      ],
    ],
    [
      'none, and no NCCL',
      machine([[], []], NONE),
      [
        'NCCL         no, no libnccl.so.2; install NCCL',
        "Peer access  none of the 2 GPUs reaches another's memory",
        'NCCL, for ag_rs and a2a between ranks with a GPU each: no libnccl.so.2; install NCCL',
      ],
    ],
    ['one GPU, which needs neither', machine([[]], NONE), ['NCCL         no, no libnccl.so.2; install NCCL']],
    ['an engine that does not say', machine([[]], undefined), []],
    ['no GPU', NO_GPU, []],
    [
      'NVLink, the same of all',
      withLinks([18, 18]),
      [
        'NCCL         yes, 2.27.3',
        "Peer access  all 2 GPUs reach each other's memory",
        'NVLink       18 links up on each of 2 GPUs',
      ],
    ],
    [
      'NVLink that differs',
      withLinks([18, 1, 0, undefined]),
      [
        'NCCL         yes, 2.27.3',
        "Peer access  all 4 GPUs reach each other's memory",
        'NVLink       GPU 0: 18 links up; GPU 1: 1 link up; GPU 2: no link; GPU 3: not known',
      ],
    ],
  ])('is said of %s', (_name, cuda, lines) => {
    expect(said(cuda)).toEqual(lines)
  })
})
