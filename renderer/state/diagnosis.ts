import { create } from 'zustand'
import type { Diagnosis } from '../../app/diagnosis/result.ts'
import { desktop } from '../bridge/bridge.ts'

/** How a diagnosis ended. */
export type Diagnosed =
  | { readonly ok: true; readonly diagnosis: Diagnosis; readonly allRows: boolean }
  | { readonly ok: false; readonly message: string }

interface DiagnosisStore {
  /** By what was diagnosed: a dump, or a run and how much it had captured. */
  readonly results: ReadonlyMap<string, Diagnosed>
  /** `key` names the result; `dump` is the id of a dump or a run. */
  readonly diagnose: (key: string, dump: string, allRows: boolean) => Promise<void>
  readonly cancel: () => void
}

/** Diagnoses of this session. How far one in progress is comes with the state of the desktop. */
export const useDiagnosis = create<DiagnosisStore>((set) => ({
  results: new Map(),
  diagnose: async (key, dump, allRows) => {
    const put = (result: Diagnosed): void =>
      set(({ results }) => ({ results: new Map([...results, [key, result]]) }))
    try {
      const result = await desktop().invoke('diagnose', { dump, allRows })
      if (!result.ok) put({ ok: false, message: result.message })
      else if (result.diagnosis !== undefined) put({ ok: true, diagnosis: result.diagnosis, allRows })
    } catch (error) {
      put({ ok: false, message: error instanceof Error ? error.message : String(error) })
    }
  },
  cancel: () => void desktop().invoke('cancelDiagnosis', {}),
}))
