import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { addonPath as built, smallConfig } from './engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'dcpscope-cuda-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What the addon says of CUDA with some library, or none, beside it; in a process of its own, as it looks once. */
const said = (name: string, putLibrary: (path: string) => void): string[] => {
  const addon = join(folder, `${name}.node`)
  copyFileSync(built, addon)
  putLibrary(join(folder, 'dcpscope_cuda.so'))
  const script = `
    const addon = require(${JSON.stringify(addon)})
    const config = ${JSON.stringify(smallConfig({ device: 'cuda', kvDtype: 'bf16' }))}
    const thrown = (call) => { try { call(); return 'nothing' } catch (e) { return e.code + ': ' + e.message } }
    const { available, reason } = addon.cuda()
    const said = [String(available), reason, thrown(() => addon.predictMemory(config)), thrown(() => addon.createRun(config))]
    process.stdout.write(JSON.stringify(said))`
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }))
}

/** The same line from `cuda`, and as ERR_ENGINE from the calls that would need a GPU. */
const refusal = (line: RegExp) => [
  'false',
  expect.stringMatching(new RegExp(`^${line.source}$`)),
  ...new Array(2).fill(expect.stringMatching(new RegExp(`^ERR_ENGINE: ${line.source}$`))),
]

const library = (interfaceName: string): string => `
extern "C" {
const char* dcpscope_cuda_interface() { return "${interfaceName}"; }
void dcpscope_cuda_devices(void*) { __builtin_trap(); }
void* dcpscope_cuda_device() { __builtin_trap(); }
}`

describe('the library of the CUDA engine beside the addon', () => {
  it('may be missing', () => {
    expect(said('alone', () => {})).toEqual(
      refusal(/the CUDA engine is not built \(no .*dcpscope_cuda\.so\); .*/),
    )
  })

  it('is named when it is no library', () => {
    const put = (path: string): void => writeFileSync(path, 'not a library')
    expect(said('broken', put)).toEqual(refusal(/the CUDA engine does not load: .*/))
  })

  it('is refused, and not called, when it was built from other headers', () => {
    const put = (path: string): void => {
      rmSync(path, { force: true })
      execFileSync('g++', ['-shared', '-fPIC', '-x', 'c++', '-', '-o', path], { input: library('older') })
    }
    expect(said('older', put)).toEqual(
      refusal(/the CUDA engine is of another version than this engine; build both anew \(.*\)/),
    )
  })
})
