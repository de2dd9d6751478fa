import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunConfigInput } from '../../app/run/config.ts'

const CLI = join(__dirname, '..', '..', 'dist', 'cli.js')

/** Exit of a run whose check failed. */
const CHECK_FAILED = 1

/** Runs a configuration by the command line, where the app lists its runs; its check may fail. */
export const realRun = async (dataDir: string, name: string, config: RunConfigInput): Promise<string> => {
  const runs = join(dataDir, 'dcpscope', 'runs')
  mkdirSync(runs, { recursive: true })
  const file = join(dataDir, `${name}.json`)
  const bundle = join(runs, `${name}.dcp`)
  writeFileSync(file, JSON.stringify(config))
  try {
    await promisify(execFile)(process.execPath, [CLI, 'run', file, '--out', bundle])
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === CHECK_FAILED)) throw error
  }
  return bundle
}
