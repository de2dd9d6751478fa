// @ts-check
import { createServer } from 'node:net'
import { buildAddon, buildProcesses, installModules } from './build-steps.mjs'
import { hasDisplay } from './display.mjs'
import { plainArguments, runScript, SetupError, say } from './report.mjs'
import { checkNode } from './system.mjs'
import { openWindow } from './window.mjs'

const HELP = `
npm run dev
Opens the window on a development server: a change of renderer/ shows at once. Processes are built once at the start.`

/** @param {number} port */
const isFree = (port) =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.on('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

runScript(async () => {
  plainArguments(HELP, process.argv.slice(2))
  checkNode()
  if (!hasDisplay())
    throw new SetupError('npm run dev opens a window, and there is no display (DISPLAY is not set)')
  await installModules()
  await buildAddon()
  await buildProcesses()
  const { createServer: createVite } = await import('vite')
  const server = await createVite({ configFile: 'main/build/renderer.config.mts' })
  const { port } = server.config.server
  if (port !== undefined && !(await isFree(port)))
    throw new SetupError(`port ${port} is in use; end what listens there`)
  await server.listen()
  const url = server.resolvedUrls?.local[0]
  if (url === undefined) throw new SetupError('the development server has no address', 3)
  say(`renderer at ${url}`)
  const code = await openWindow([], { ...process.env, DCPSCOPE_DEV_URL: url })
  await server.close()
  return code
})
