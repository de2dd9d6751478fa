import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The tests of the kernels: a C++ program that prints one line for each case. */
export const PROGRAM = `${root}build/cuda/dcpscope_gpu_tests`

/** What became of one case, and what its line says about it. */
export interface Verdict {
  readonly verdict: 'ok' | 'FAIL' | 'skip'
  readonly note: string
}

/** How a run of the program ended, with the verdicts by the names of the cases. */
export interface ProgramRun {
  readonly status: number | null
  readonly verdicts: ReadonlyMap<string, Verdict>
  readonly output: string
}

/** Why nothing in test/gpu can run here, or undefined. */
export const whyNot = (): string | undefined => {
  const reason = process.env.DCPSCOPE_NO_GPU
  if (reason !== undefined) return reason
  return existsSync(PROGRAM)
    ? undefined
    : 'build/cuda/dcpscope_gpu_tests is not built: npm run test:gpu does it'
}

/** Says loudly that a suite is skipped, and gives why. */
export const skipReason = (suite: string): string | undefined => {
  const reason = whyNot()
  if (reason !== undefined) process.stderr.write(`${suite.toUpperCase()} ARE SKIPPED: ${reason}\n`)
  return reason
}

const parsed = (output: string): ReadonlyMap<string, Verdict> => {
  const verdicts = new Map<string, Verdict>()
  for (const line of output.split('\n')) {
    const [, verdict, name, note] = /^(ok|FAIL|skip) (\S+) \| (.*)$/.exec(line) ?? []
    if (name === undefined || note === undefined) continue
    if (verdict === 'ok' || verdict === 'FAIL' || verdict === 'skip') verdicts.set(name, { verdict, note })
  }
  return verdicts
}

/** Runs the program, below `wrapper` when one is given. */
export const runProgram = (args: readonly string[], wrapper: readonly string[] = []): ProgramRun => {
  const [command = PROGRAM, ...rest] = [...wrapper, PROGRAM, ...args]
  const result = spawnSync(command, rest, { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 })
  if (result.error !== undefined) throw result.error
  const output = `${result.stdout}${result.stderr}`
  return { status: result.status, verdicts: parsed(result.stdout), output }
}

/** Names of all cases, grouped by what comes before their last two parts. */
export const listCases = (): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>()
  for (const name of runProgram(['--list']).output.split('\n')) {
    if (name === '') continue
    const group = groupOf(name)
    const names = groups.get(group) ?? []
    names.push(name)
    groups.set(group, names)
  }
  return groups
}

/** A filter of the program that matches a good handful of cases: at most the first three parts of a name. */
const groupOf = (name: string): string => {
  const parts = name.split('/')
  return `${parts.slice(0, Math.min(3, parts.length - 1)).join('/')}/`
}
