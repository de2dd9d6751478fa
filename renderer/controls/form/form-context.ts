import { createContext, useContext } from 'react'
import type { ConfigIssue } from '../../../app/run/parse.ts'
import type { ConfigPath } from '../../state/config-path.ts'
import type { Draft } from '../../state/draft-form.ts'

/** Words of a choice that cannot be taken on this machine, with why not. */
export type Barred = ReadonlyMap<string, string>

export const NOTHING_BARRED: Barred = new Map()

export interface Fixed {
  readonly value: unknown
  /** What fixes it, for beside the control. */
  readonly by: string
}

/** The form that sections and fields are part of. */
export interface FormControl {
  readonly draft: Draft
  readonly issues: readonly ConfigIssue[]
  readonly set: (path: ConfigPath, value: unknown) => void
  readonly settle: () => void
  /** A field that is edited elsewhere than among its section's. */
  readonly elsewhere: ConfigPath
  readonly barredAt: (path: ConfigPath) => Barred
  /** What fixes a field, whatever the form says; null where it is the form's to say. */
  readonly fixedAt: (path: ConfigPath) => Fixed | null
  /** Why a field has no meaning in what the form describes; null when it has. */
  readonly idleAt: (path: ConfigPath) => string | null
}

const FormContext = createContext<FormControl | null>(null)

export const FormProvider = FormContext.Provider

export const useForm = (): FormControl => {
  const form = useContext(FormContext)
  if (form === null) throw new Error('a field stands outside of a form')
  return form
}
