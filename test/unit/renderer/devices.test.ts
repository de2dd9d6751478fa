import { describe, expect, test } from 'vitest'
import type { RunRef } from '../../../app/protocol/store.ts'
import type { CudaInfo, Machine } from '../../../app/run/machine.ts'
import { deviceChoices, gpuText, runsOn, whyIdle, whyNoGpu } from '../../../renderer/state/devices.ts'
import { judge, presetDraft, useRunForm } from '../../../renderer/state/form.ts'
import { machineLine } from '../../../renderer/views/run/machine-line.ts'
import { matching } from '../../../renderer/views/run/matching.ts'
import { memoryOf } from '../../../renderer/views/run/memory.ts'

const cpu = { cores: 2, simd: 'avx2', memoryAvailableBytes: 2 ** 33 }
const gpu = {
  name: 'NVIDIA H200',
  computeCapability: '9.0',
  multiprocessors: 132,
  memoryBytes: 140 * 2 ** 30,
  freeBytes: 138.5 * 2 ** 30,
  driverVersion: '13.0',
  runtimeVersion: '13.0',
}
const some: CudaInfo = { available: true, devices: [gpu] }
const none: CudaInfo = { available: false, reason: 'no NVIDIA driver is installed', devices: [] }
const machine = (cuda: CudaInfo): Machine => ({ cpu, cuda })

const barredOf = (of: Machine | null): Record<string, string> =>
  Object.fromEntries(
    deviceChoices(of).flatMap(({ device, barred }) => (barred === null ? [] : [[device, barred]])),
  )

describe('the devices of a machine', () => {
  test('are all there with a GPU, and without one cuda says why not', () => {
    expect(barredOf(machine(some))).toEqual({})
    expect(barredOf(machine(none))).toEqual({ cuda: 'no NVIDIA driver is installed' })
    expect(barredOf({ cpu })).toEqual({ cuda: 'this engine was built without its CUDA part' })
    expect(whyNoGpu(null)).toContain('not looked')
  })

  test('are named by what a run takes', () => {
    const tiny = presetDraft('tiny')
    expect(runsOn(tiny, machine(some))).toBe('NVIDIA H200')
    expect(runsOn(tiny, machine(none))).toBe('CPU, 2 cores')
    expect(runsOn({ ...tiny, engine: { ...tiny.engine, device: 'cpu' } }, machine(some))).toBe('CPU, 2 cores')
    expect(runsOn({ ...tiny, cache: { ...tiny.cache, kvDtype: 'fp32' } }, machine(some))).toBe('CPU, 2 cores')
    expect(runsOn(tiny, null)).toBe('CPU')
  })

  test('leave fields without meaning where a run would use the CPU, as soon as that is known', () => {
    const tiny = presetDraft('tiny')
    const onCpu = { ...tiny, engine: { ...tiny.engine, device: 'cpu' as const } }
    for (const path of ['engine.graph', 'engine.observer', 'engine.kernelTrace']) {
      expect(whyIdle(path, tiny, machine(none))).toBe('needs a GPU')
      expect(whyIdle(path, onCpu, machine(some))).toBe('needs a GPU')
      expect(whyIdle(path, tiny, machine(some))).toBeNull()
      expect(whyIdle(path, tiny, null)).toBeNull()
      expect(whyIdle(path, null, machine(none))).toBeNull()
    }
    expect(whyIdle('engine.rowStats', tiny, machine(none))).toBeNull()
  })

  test('tell what a run should know of a GPU', () => {
    expect(gpuText(gpu)).toBe(
      'compute capability 9.0, 132 multiprocessors, 138.5 of 140.0 GiB free, CUDA 13.0',
    )
    expect(gpuText({ ...gpu, driver: '580.65' })).toContain('CUDA 13.0, driver 580.65')
  })
})

describe('a configuration that asks for a GPU', () => {
  const draft = { engine: { device: 'cuda' } }

  test('is an issue once the engine has said that there is none', () => {
    expect(judge(draft).issues).toEqual([])
    expect(judge(draft, some).issues).toEqual([])
    expect(judge(draft, none).issues).toEqual([
      { path: 'engine.device', message: expect.stringContaining('no NVIDIA driver is installed') },
    ])
  })

  test('is judged anew when the engine says so, and only then', () => {
    const form = useRunForm.getState()
    form.replace({ ...presetDraft('tiny'), ...draft })
    expect(useRunForm.getState().issues).toEqual([])
    form.know(none)
    const judged = useRunForm.getState()
    expect(judged.issues).toHaveLength(1)
    form.know(structuredClone(none))
    expect(useRunForm.getState()).toBe(judged)
    form.know(undefined)
    expect(useRunForm.getState().issues).toEqual([])
    form.reset()
  })
})

test('predicted memory is listed from the largest part on, and held against what is free', () => {
  const components = [
    { name: 'queries', bytes: 5 },
    { name: 'kv_pages', bytes: 90 },
    { name: 'rings', bytes: 0 },
  ]
  const memory = memoryOf({ device: 'cuda', components, availableBytes: 95 })
  expect(memory.components.map(({ name }) => name)).toEqual(['kv_pages', 'queries'])
  expect(memory).toMatchObject({ totalBytes: 95, fits: true })
  expect(memoryOf({ device: 'cuda', components, availableBytes: 94 }).fits).toBe(false)
})

test('a machine in a line names its CPU and its GPUs', () => {
  expect(machineLine({ cpu })).toBe('CPU with 2 cores')
  expect(machineLine(machine(none))).toBe('CPU with 2 cores')
  expect(machineLine(machine(some))).toBe('CPU with 2 cores, NVIDIA H200')
  expect(machineLine(machine({ ...some, devices: [gpu, gpu] }))).toBe('CPU with 2 cores, 2 × NVIDIA H200')
})

test('runs of the history are found by words of name, configuration and status', () => {
  const run = (name: string, title: string, status: RunRef['status']): RunRef => ({
    id: name,
    name,
    title,
    status,
    createdAt: '',
  })
  const runs = [run('one', 'tiny, DCP 4, fp8', 'complete'), run('two', 'tiny, DCP 2', 'failed')]
  const found = (words: string): string[] => matching(runs, words).map(({ name }) => name)
  expect(found('')).toEqual(['one', 'two'])
  expect(found('DCP tiny')).toEqual(['one', 'two'])
  expect(found('fp8 complete')).toEqual(['one'])
  expect(found('failed one')).toEqual([])
})
