import './zod-setup.ts'
import './theme/tokens.css'
import './theme/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './shell/App.tsx'
import { connectPage } from './state/connect.ts'
import { followPlaces } from './state/trail.ts'
import { shadeOf } from './theme/colours.ts'
import { currentTheme } from './theme/use-theme.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element #root')
// Before the first paint, so that the page never shows in the wrong theme.
document.documentElement.dataset.theme = shadeOf(currentTheme())
connectPage()
followPlaces()
createRoot(root).render(<App />)
