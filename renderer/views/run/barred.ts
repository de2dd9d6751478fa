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

/** Why a field has no meaning for the run that the form describes; null when it has. */
export const useIdle = (path: string): string | null => {
  const machine = useSession((s) => s.desktop?.machine ?? null)
  const config = useRunForm((s) => s.config)
  return whyIdle(path, config, machine)
}
