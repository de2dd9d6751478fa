import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const recorded = z.object({ path: z.string(), version: z.string(), source: z.string() })

export interface RuntimeDescription {
  /** null when there is none. */
  readonly version: string | null
  /** Where it comes from, or why there is none. */
  readonly source: string
}

const none = (source: string): RuntimeDescription => ({ version: null, source })

/** The Electron runtime that set-up found and recorded in `build/electron-runtime.json` beside `dist/`. */
export const describeRuntime = (distDir: string): RuntimeDescription => {
  const file = join(distDir, '..', 'build', 'electron-runtime.json')
  if (!existsSync(file)) return none('not set up yet')
  try {
    const { path, version, source } = recorded.parse(JSON.parse(readFileSync(file, 'utf8')))
    return existsSync(path) ? { version, source } : none('the one that set-up found is gone')
  } catch {
    return none('what set-up recorded about it is damaged')
  }
}
