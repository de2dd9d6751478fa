import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runProgram, skipReason } from './program.ts'

const SUITE = 'the tests of the kernels under compute-sanitizer'
const reason = skipReason(SUITE)
const found = reason === undefined && spawnSync('compute-sanitizer', ['--version']).status === 0
if (reason === undefined && !found)
  process.stderr.write(`${SUITE.toUpperCase()} ARE SKIPPED: compute-sanitizer is not on this machine\n`)

/** What each tool prints when it found nothing. */
const CLEAN = /ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed \(0 errors, 0 warnings\)/

describe.skipIf(!found)(SUITE, () => {
  for (const tool of ['memcheck', 'racecheck', 'initcheck', 'synccheck']) {
    it(`${tool} finds nothing on the small grid`, () => {
      const wrapper = ['compute-sanitizer', '--tool', tool, '--error-exitcode', '9']
      const run = runProgram(['--reduced'], wrapper)
      expect(run.status, run.output.slice(-2000)).toBe(0)
      expect(run.output).toMatch(CLEAN)
    }, 3_600_000)
  }
})
