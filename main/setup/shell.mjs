// @ts-check
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError } from './report.mjs'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Path of a program on PATH, or undefined. @param {string} name */
export const programPath = (name) => {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // not in this folder
    }
  }
  return undefined
}

/**
 * Runs a command to its end; its output is shown only when it fails (or always with `show`).
 * @param {string} command @param {readonly string[]} args
 * @param {{ show?: boolean, env?: NodeJS.ProcessEnv, cwd?: string, failure?: string, timeoutMs?: number }} [options]
 * @returns {Promise<string>} what it wrote to stdout
 */
export const run = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: options.env ?? process.env,
      stdio: options.show === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs, killSignal: 'SIGKILL' }),
    })
    let out = ''
    let all = ''
    child.stdout?.on('data', (data) => {
      out += data
      all += data
    })
    child.stderr?.on('data', (data) => {
      all += data
    })
    child.on('error', (error) => reject(new SetupError(`${command} could not be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out)
      else {
        const ended = signal === null ? `ended with ${code}` : `was ended by ${signal}`
        reject(
          new SetupError(
            `${options.failure ?? `${command} ${args[0] ?? ''}`} ${ended}${all === '' ? '' : `\n${all.trimEnd()}`}`,
          ),
        )
      }
    })
  })

/** Runs a command in the foreground and gives its exit code. @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} [env] */
export const runForeground = (command, args, env = process.env) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: 'inherit' })
    // A Ctrl-C reaches the child as well; it decides how to end.
    const wait = () => {}
    process.on('SIGINT', wait)
    child.on('error', () => resolve(3))
    child.on('close', (code, signal) => {
      process.off('SIGINT', wait)
      resolve(code ?? (signal === 'SIGINT' ? 130 : 3))
    })
  })

/** Output of a short command, or undefined when it fails. @param {string} command @param {readonly string[]} args */
export const output = (command, args) => {
  const done = spawnSync(command, args, { encoding: 'utf8' })
  return done.status === 0 ? done.stdout : undefined
}
