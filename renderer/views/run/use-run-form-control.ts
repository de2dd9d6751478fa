import { useMemo } from 'react'
import { FIXED_BY_BACKEND } from '../../../app/backends/apply.ts'
import { profileNamed } from '../../../app/backends/index.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import type { Fixed, FormControl } from '../../controls/form/form-context.ts'
import { valueAt } from '../../state/config-path.ts'
import { barredDevices, whyIdle } from '../../state/devices.ts'
import { useRunForm } from '../../state/form.ts'
import { useSession } from '../../state/session.ts'

/** What the back-end of the form makes of a field. */
const fixedAt = (path: string, config: RunConfig | null): Fixed | null => {
  if (config === null || !FIXED_BY_BACKEND.includes(path)) return null
  const { framework } = profileNamed(config.serving.backend)
  return framework === 'dcpscope' ? null : { value: valueAt(config, path), by: 'by the back-end' }
}

/** The form of a run, on this machine. */
export const useRunFormControl = (): FormControl => {
  const { draft, issues, config, set, settle } = useRunForm()
  const machine = useSession((s) => s.desktop?.machine ?? null)
  return useMemo(
    () => ({
      draft,
      issues,
      set,
      settle,
      // The picker of presets above the form edits this one.
      elsewhere: 'model.preset',
      barredAt: (path) => barredDevices(path, machine),
      fixedAt: (path) => fixedAt(path, config),
      idleAt: (path) => whyIdle(path, config, machine),
    }),
    [draft, issues, config, set, settle, machine],
  )
}
