import { type ChildProcess, spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { childEnd } from '../../../main/process/child-end.ts'

const node = (script: string): ChildProcess =>
  spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] })

describe('the end of a child process', () => {
  it('is told by its exit code or signal', async () => {
    expect(await childEnd(node('process.exit(5)'))).toEqual({ how: 'died (exit code 5)', words: '' })
    expect(await childEnd(node('process.kill(process.pid, "SIGTERM")'))).toEqual({
      how: 'died (SIGTERM)',
      words: '',
    })
    expect((await childEnd(node('process.kill(process.pid, "SIGKILL")'))).how).toMatch(/^died \(SIGKILL, by /)
  })

  it('comes with the last line that it wrote', async () => {
    const { words } = await childEnd(node('console.error("first"); console.error("last"); process.exit(1)'))
    expect(words).toBe('last')
  })

  it('comes with the error that nobody caught, and not with the version that Node writes below it', async () => {
    const { how, words } = await childEnd(node('throw new RangeError("too far")'))
    expect([how, words]).toEqual(['died (exit code 1)', 'RangeError: too far'])
  })

  it('is said as well when it could not begin', async () => {
    const missing = spawn('/nowhere/program', [], { stdio: ['ignore', 'ignore', 'pipe'] })
    expect((await childEnd(missing)).how).toMatch(/^could not be started: spawn \/nowhere\/program ENOENT$/)
  })
})
