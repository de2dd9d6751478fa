import type { RunStatus } from '../../app/trace/manifest.ts'
import { useSession } from './session.ts'

/** How a run ended that this session has started. */
export const endOf = (run: string): Promise<RunStatus> =>
  new Promise((resolve) => {
    const look = (): boolean => {
      const last = useSession.getState().desktop?.lastRun
      if (last?.id !== run) return false
      resolve(last.status)
      return true
    }
    if (look()) return
    const stop = useSession.subscribe(() => {
      if (look()) stop()
    })
  })
