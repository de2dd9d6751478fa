import './zod-setup.ts'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { nextFrame } from './drawing/next-frame.ts'
import { App } from './shell/App.tsx'
import { connectPage } from './state/connect.ts'
import { followPlaces } from './state/trail.ts'
import { shadeOf } from './theme/colours.ts'
import { currentTheme } from './theme/use-theme.ts'

/** Draws the app in `root`, in place of what stands there, and connects it to main. */
export const start = async (root: Element): Promise<void> => {
  document.documentElement.dataset.theme = shadeOf(currentTheme())
  followPlaces()
  flushSync(() => createRoot(root).render(<App />))
  // When main is asked how its processes are it starts them, and they would take the cores from the drawing.
  await nextFrame()
  connectPage()
  // Recharts is large, and the first curves wait for it: better read while nobody does.
  requestIdleCallback(() => void import('./views/throughput/CurveChart.tsx'))
}
