// @ts-check
import { spawn } from 'node:child_process'
import { SetupError } from './report.mjs'
import { programPath } from './shell.mjs'
import { installPackages } from './system.mjs'

/** Whether a window can be shown. */
export const hasDisplay = () =>
  process.platform !== 'linux' || Boolean(process.env.DISPLAY) || Boolean(process.env.WAYLAND_DISPLAY)

const START_LIMIT_MS = 15_000

/**
 * A display for tests: the one there is, or an Xvfb of our own on a free number.
 * @returns {Promise<{ env: NodeJS.ProcessEnv, close: () => void }>}
 */
export const testDisplay = async () => {
  if (hasDisplay()) return { env: process.env, close: () => {} }
  await installPackages(() => (programPath('Xvfb') === undefined ? ['xvfb'] : []), 'a display for tests')
  // Xvfb takes a free number itself and writes it to the descriptor.
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '2560x1440x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const close = () => void server.kill()
  process.on('exit', close)
  const number = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new SetupError('Xvfb did not start', 3)), START_LIMIT_MS)
    server.on('error', (error) => reject(new SetupError(`Xvfb did not start: ${error.message}`, 3)))
    server.on('exit', (code) => reject(new SetupError(`Xvfb ended with ${code}`, 3)))
    server.stdio[3]?.on('data', (data) => {
      clearTimeout(late)
      resolve(String(data).trim())
    })
  })
  return { env: { ...process.env, DISPLAY: `:${number}` }, close }
}
