import type { DesktopState } from '../../../app/protocol/desktop.ts'
import { DEFAULT_SETTINGS } from '../../../app/settings/settings.ts'

/** A desktop with its processes ready and nothing in progress. */
export const desktopState: DesktopState = {
  engine: { status: 'ready', pid: 1 },
  store: { status: 'ready', pid: 2 },
  activeRun: null,
  lastRun: null,
  activeSweep: null,
  lastSweep: null,
  dumps: [],
  diagnosis: null,
  settings: DEFAULT_SETTINGS,
  runtime: { app: '', electron: '', chrome: '', node: '', engine: '', device: '' },
  machine: null,
}
