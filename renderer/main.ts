import './theme/tokens.css'
import './theme/base.css'
import './shell/frame.css'
import { nextFrame } from './drawing/next-frame.ts'

/**
 * Entry of the page: the way to the first paint, which is the frame that stands in index.html. All else is read
 * after it.
 */

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element #root')

nextFrame()
  .then(() => import('./start.tsx'))
  .then(({ start }) => start(root))
  .catch((error: unknown) => {
    root.textContent = `dcpscope cannot start: ${error instanceof Error ? error.message : String(error)}`
    throw error
  })
