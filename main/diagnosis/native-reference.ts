import type { Reference } from '../../app/diagnosis/reference.ts'
import type { NativeAttention } from '../engine/addon.ts'
import { loadAddon } from '../engine/load-addon.ts'

/** The reference of the native engine in `distDir`; undefined where there is no engine. */
export const nativeReference = (distDir: string): Reference | undefined => {
  let addon: NativeAttention
  try {
    addon = loadAddon(distDir)
  } catch {
    return undefined
  }
  return { attend: (task) => addon.attend(task) }
}
