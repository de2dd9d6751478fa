import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const recorded = z.object({ path: z.string(), version: z.string(), source: z.string() })

export interface RuntimeDescription {
  /** null when no runtime has been found yet. */
  readonly version: string | null
  /** Where it comes from, e.g. `official package`; why there is none otherwise. */
  readonly source: string
}

/** The Electron runtime that set-up found and recorded in `build/electron-runtime.json` beside `dist/`. */
export const describeRuntime = (distDir: string): RuntimeDescription => {
  try {
    const text = readFileSync(join(distDir, '..', 'build', 'electron-runtime.json'), 'utf8')
    const { version, source } = recorded.parse(JSON.parse(text))
    return { version, source }
  } catch {
    return { version: null, source: 'not set up yet' }
  }
}
