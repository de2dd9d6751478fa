import { type DumpSet, openDumps } from '../../../app/dump/dumps.ts'
import { encodeHeader } from '../../../app/dump/safetensors.ts'
import { type ByteSource, memorySource } from '../../../app/dump/source.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import { engineConfig } from '../../../app/run/engine-config.ts'
import type { NativeAddon, NativeCapture } from '../../../main/engine/addon.ts'
import { captureMetadata } from '../../../main/engine/captures.ts'

/** What a run of the CPU engine captured, with the configuration that says how it is read. */
export interface Captured {
  readonly config: RunConfig
  readonly captures: readonly NativeCapture[]
}

/** Runs a configuration on the CPU engine to its end. */
export const capturedRun = async (
  addon: Pick<NativeAddon, 'createRun'>,
  config: RunConfig,
): Promise<Captured> => {
  const run = addon.createRun(engineConfig(config, 'cpu'))
  try {
    while ((await run.fill(1000)) < 1);
    const captures: NativeCapture[] = []
    for (let finished = false; !finished; ) {
      finished = (await run.advance(1 << 20, 1000, 0)).finished
      while (run.drain(1 << 20).length > 0);
      captures.push(...run.takeCaptures())
    }
    return { config, captures }
  } finally {
    run.dispose()
  }
}

type Metadata = Readonly<Record<string, string | undefined>>

/** What is left out of a dump, or changed, of one capture. */
export interface Change {
  readonly keep?: (capture: NativeCapture, tensor: string) => boolean
  readonly metadata?: Metadata | ((capture: NativeCapture) => Metadata)
}

/** The captures of ranks as dump files in memory. The engine's own reference is left out: diagnosis is blind. */
export const sourcesOf = (
  { config, captures }: Captured,
  { keep = () => true, metadata = {} }: Change = {},
): ByteSource[] =>
  captures
    .filter(({ rank }) => rank >= 0)
    .map((capture) => {
      const tensors = capture.tensors.filter(({ name }) => keep(capture, name))
      const changed = typeof metadata === 'function' ? metadata(capture) : metadata
      const given = Object.entries({ ...captureMetadata(config, capture), ...changed }).flatMap(
        ([key, value]) =>
          value === undefined || key === 'backend' || key === 'engine' ? [] : [[key, value]],
      )
      const parts = [
        encodeHeader(tensors, Object.fromEntries(given)),
        ...tensors.map(({ data }) => new Uint8Array(data)),
      ]
      return memorySource(
        `step${capture.step}-layer${capture.layer}-rank${capture.rank}`,
        new Uint8Array(Buffer.concat(parts)),
      )
    })

export const dumpsOf = (captured: Captured, change?: Change): Promise<DumpSet> =>
  openDumps(sourcesOf(captured, change))
