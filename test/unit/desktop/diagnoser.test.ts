import { describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import { diagnosisCommandSchema } from '../../../app/protocol/diagnosis.ts'
import { createDiagnoser } from '../../../main/desktop/diagnoser.ts'
import { fakeForge } from './fake-forge.ts'

const HEALTHY: Diagnosis = {
  healthy: true,
  verdict: 'healthy',
  findings: [],
  notChecked: [],
  information: [],
  inputIssues: [],
}

const desk = () => {
  const forge = fakeForge()
  const states: unknown[] = []
  const complaints: string[] = []
  const diagnoser = createDiagnoser(
    forge,
    () => states.push(diagnoser.state()),
    (sentence) => complaints.push(sentence),
  )
  const latest = () => forge.latest('diagnosis')
  /** Id of the command that the latest process got. */
  const id = (): string => diagnosisCommandSchema.parse(latest().received[0]?.message).id
  return { diagnoser, latest, id, states, complaints, forge }
}

describe('a diagnosis', () => {
  it('has a process of its own that is asked once it is ready and ends with its answer', async () => {
    const { diagnoser, latest, id, states } = desk()
    const result = diagnoser.diagnose('d', ['/dumps/d'], true)
    expect(latest().received).toEqual([])
    latest().say({ type: 'ready' })
    expect(latest().received[0]?.message).toMatchObject({
      type: 'diagnose',
      paths: ['/dumps/d'],
      allRows: true,
    })
    latest().say({ type: 'progress', id: id(), share: 0.5 })
    latest().say({ type: 'diagnosed', id: id(), groups: 1, diagnosis: HEALTHY })
    expect(await result).toEqual({ ok: true, diagnosis: HEALTHY })
    expect(latest().killed).toBe(true)
    expect(states).toEqual([{ dump: 'd', share: 0 }, { dump: 'd', share: 0.5 }, null])
  })

  it('that is cancelled, or that another takes the place of, says so', async () => {
    const { diagnoser, latest, states } = desk()
    const first = diagnoser.diagnose('a', ['/a'], false)
    const old = latest()
    const second = diagnoser.diagnose('b', ['/b'], false)
    expect(await first).toMatchObject({ ok: false, message: 'The diagnosis was cancelled.' })
    expect(old.killed).toBe(true)
    // What the former says late changes nothing.
    old.say({ type: 'progress', id: 'x', share: 0.9 })
    expect(diagnoser.state()).toEqual({ dump: 'b', share: 0 })
    diagnoser.cancel()
    diagnoser.cancel()
    expect(await second).toMatchObject({ ok: false })
    expect(states.at(-1)).toBeNull()
  })

  it('whose process fails or dies is refused in a sentence', async () => {
    const { diagnoser, latest, id } = desk()
    const failed = diagnoser.diagnose('a', ['/a'], false)
    latest().say({ type: 'ready' })
    latest().say({ type: 'failed', id: id(), error: 'a file was removed' })
    expect(await failed).toMatchObject({ message: 'The diagnosis failed: a file was removed' })
    const died = diagnoser.diagnose('a', ['/a'], false)
    latest().die({ how: 'memory' })
    expect(await died).toMatchObject({ message: 'The diagnosis process ran out of memory.' })
  })

  it('does not believe what is no event', () => {
    const { diagnoser, latest, complaints } = desk()
    void diagnoser.diagnose('a', ['/a'], false)
    latest().say({ type: 'diagnosed', id: 'x', diagnosis: { healthy: 'yes' } })
    expect(complaints).toHaveLength(1)
    expect(diagnoser.state()).toEqual({ dump: 'a', share: 0 })
  })
})
