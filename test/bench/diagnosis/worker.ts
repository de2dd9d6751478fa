import { parentPort, workerData } from 'node:worker_threads'
import { runCases, type Which } from './run.ts'

/** A thread of the benchmark: tells each outcome as it comes. */
const { addonPath, parts }: { addonPath: string; parts: readonly Which[] } = workerData

const work = async (): Promise<void> => {
  for (const part of parts) await runCases(addonPath, part, (trial) => parentPort?.postMessage(trial))
}

work()
