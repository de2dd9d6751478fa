import { beforeAll, describe, expect, it } from 'vitest'
import { listCases, type ProgramRun, runProgram, skipReason } from './program.ts'

const SUITE = 'the tests of the kernels on a GPU'
const reason = skipReason(SUITE)

describe.skipIf(reason !== undefined)(SUITE, () => {
  const groups = reason === undefined ? listCases() : new Map([['none', [reason]]])

  it('are cases of several suites', () => {
    expect(groups.size).toBeGreaterThan(3)
  })

  for (const [group, names] of groups) {
    describe(group, () => {
      let run: ProgramRun | undefined
      beforeAll(() => {
        run = runProgram([group])
      }, 1_200_000)

      for (const name of names) {
        it(name.startsWith(group) ? name.slice(group.length) : name, ({ skip }) => {
          const found = run?.verdicts.get(name)
          if (found?.verdict === 'skip') skip(found.note)
          if (found?.verdict === 'ok') return
          expect.fail(
            `${name}: ${found?.note ?? `no line; the program ended with:\n${run?.output.slice(-400)}`}`,
          )
        })
      }
    })
  }
})
