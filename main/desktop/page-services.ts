import { z } from 'zod'
import { type CommandResult, type DesktopCommand, desktopCommands } from '../../app/protocol/desktop.ts'
import type { DesktopHandlers } from './commands.ts'
import type { PageServices } from './gateway.ts'

export interface PageServicesOptions {
  readonly handlers: DesktopHandlers
  readonly state: PageServices['state']
  readonly sendPort: () => void
  readonly dropped: (paths: readonly string[]) => void
}

const envelope = z.strictObject({
  command: z.enum(Object.keys(desktopCommands) as [DesktopCommand, ...DesktopCommand[]]),
  params: z.unknown(),
})

const droppedPaths = z.array(z.string().min(1)).min(1).max(100_000)

/** Runs the command of a payload; one that fits no command is refused. */
export const dispatch = async (handlers: DesktopHandlers, payload: unknown): Promise<CommandResult> => {
  const sent = envelope.safeParse(payload)
  return sent.success
    ? handlers[sent.data.command](sent.data.params)
    : { ok: false, message: 'This command is not known.', issues: [] }
}

/** What the page may ask for, with every payload parsed. */
export const pageServices = ({ handlers, state, sendPort, dropped }: PageServicesOptions): PageServices => ({
  command: (payload) => dispatch(handlers, payload),
  state,
  sendPort,
  dropped: (payload) => {
    const paths = droppedPaths.safeParse(payload)
    if (paths.success) dropped(paths.data)
  },
})
