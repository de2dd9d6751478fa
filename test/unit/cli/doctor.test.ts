import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { doctorText, examine } from '../../../main/cli/doctor-command.ts'

const empty = mkdtempSync(join(tmpdir(), 'dcpscope-doctor-'))
afterAll(() => rmSync(empty, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

describe('doctor where nothing is built', () => {
  it('names each part with the command that brings it', async () => {
    const report = await examine(empty)
    expect(report.engines.cpu.available).toBe(false)
    expect(report.engines.cuda).toEqual({ available: false, reason: 'the engine could not be asked' })
    const missing = report.missing.join('\n')
    expect(missing).toMatch(/^CPU engine: .*npm run build/m)
    expect(missing).toMatch(/^Electron, for the window/m)
    if (process.platform === 'linux')
      expect(missing).toContain(
        'the CUDA engine, which is not built: install nvcc (the CUDA toolkit) where it is missing, then run "npm run build"',
      )
  })

  it('advises to start the window only where there is a display', async () => {
    vi.stubEnv('DISPLAY', '')
    vi.stubEnv('WAYLAND_DISPLAY', '')
    const missing = (await examine(empty)).missing.join('\n')
    if (process.platform !== 'linux') return
    expect(missing).toMatch(/^a display/m)
    expect(missing).toMatch(/^Electron, .*: run "npm start" where there is a display$/m)
    vi.stubEnv('DISPLAY', ':0')
    expect((await examine(empty)).missing.join('\n')).toMatch(/^Electron, .*: run "npm start"$/m)
  })

  it('asks for no window on a server, and names the command of its pack', async () => {
    vi.stubEnv('DCPSCOPE_SERVER_PACK', empty)
    vi.stubEnv('DISPLAY', '')
    vi.stubEnv('WAYLAND_DISPLAY', '')
    const report = await examine(empty)
    const missing = report.missing.join('\n')
    expect(missing).not.toMatch(/Electron|display/)
    if (process.platform === 'linux') expect(missing).toContain('then run "./build.sh"')
    expect(doctorText(report)).toMatch(/^Electron +none, this is the pack for servers/m)
  })
})
