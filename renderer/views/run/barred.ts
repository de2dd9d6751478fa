import { FIXED_BY_BACKEND } from '../../../app/backends/apply.ts'
import { profileNamed } from '../../../app/backends/index.ts'
import { valueAt } from '../../state/config-path.ts'
import { deviceChoices, whyIdle } from '../../state/devices.ts'
import { useRunForm } from '../../state/form.ts'
import { useSession } from '../../state/session.ts'

/** Words of a choice that cannot be taken on this machine, with why not. */
export type Barred = ReadonlyMap<string, string>

const NONE: Barred = new Map()

/** The only field whose choices depend on the machine. */
const DEVICE = 'engine.device'

export const useBarred = (path: string): Barred => {
  const machine = useSession((s) => s.desktop?.machine ?? null)
  if (path !== DEVICE) return NONE
  return new Map(
    deviceChoices(machine).flatMap(({ device, barred }) => (barred === null ? [] : [[device, barred]])),
  )
}

export interface Fixed {
  readonly value: unknown
  /** What fixes it, for beside the control. */
  readonly by: string
}

/** What the back-end of the form makes of a field, whatever the form says; null where it is the form's to say. */
export const useFixed = (path: string): Fixed | null => {
  const config = useRunForm((s) => s.config)
  if (config === null || !FIXED_BY_BACKEND.includes(path)) return null
  const { framework } = profileNamed(config.serving.backend)
  return framework === 'dcpscope' ? null : { value: valueAt(config, path), by: 'by the back-end' }
}

/** Why a field has no meaning for the run that the form describes; null when it has. */
export const useIdle = (path: string): string | null => {
  const machine = useSession((s) => s.desktop?.machine ?? null)
  const config = useRunForm((s) => s.config)
  return whyIdle(path, config, machine)
}
