import type { IpcMain, IpcMainEvent, IpcMainInvokeEvent, WebContents, WebFrameMain } from 'electron'
import { z } from 'zod'
import {
  CHANNEL,
  type CommandResult,
  type DesktopCommand,
  type DesktopState,
  desktopCommands,
} from '../../app/protocol/desktop.ts'
import type { DesktopHandlers } from './commands.ts'
import { originOf } from './url.ts'

export interface GatewayOptions {
  readonly ipc: Pick<IpcMain, 'handle' | 'on'>
  /** Contents of our window, undefined when there is none. */
  readonly contents: () => WebContents | undefined
  /** Origins at which our page may live. */
  readonly origins: readonly string[]
  readonly handlers: DesktopHandlers
  readonly state: () => DesktopState
  readonly sendPort: () => void
  /** Opens what a person dropped on the window. */
  readonly dropped: (paths: readonly string[]) => void
  readonly complain: (sentence: string) => void
}

const envelope = z.strictObject({
  command: z.enum(Object.keys(desktopCommands) as [DesktopCommand, ...DesktopCommand[]]),
  params: z.unknown(),
})

const droppedPaths = z.array(z.string().min(1)).min(1).max(100_000)

const refused = (message: string): CommandResult => ({ ok: false, message, issues: [] })

/** Whether a frame is the main frame of our window, at an address of ours. */
export const isOurs = (
  frame: Pick<WebFrameMain, 'url' | 'parent'> | null,
  main: Pick<WebFrameMain, 'url' | 'parent'> | undefined,
  origins: readonly string[],
): boolean =>
  frame !== null && frame === main && frame.parent === null && origins.includes(originOf(frame.url))

/** Runs the command of a payload; one that fits no command is refused. */
export const dispatch = async (handlers: DesktopHandlers, payload: unknown): Promise<CommandResult> => {
  const sent = envelope.safeParse(payload)
  return sent.success ? handlers[sent.data.command](sent.data.params) : refused('This command is not known.')
}

/** The one door between the page and this process: every sender is checked and every payload parsed here. */
export const openGateway = (options: GatewayOptions): void => {
  const { ipc, complain } = options
  const trusted = (event: IpcMainEvent | IpcMainInvokeEvent): boolean => {
    const ours = isOurs(event.senderFrame, options.contents()?.mainFrame, options.origins)
    if (!ours) complain('refused a message of a frame that is not the window')
    return ours
  }
  ipc.handle(CHANNEL.command, async (event, payload: unknown): Promise<CommandResult> => {
    if (!trusted(event)) return refused('This page may not send commands.')
    try {
      return await dispatch(options.handlers, payload)
    } catch (error) {
      complain(`a command failed: ${error instanceof Error ? error.message : String(error)}`)
      return refused(error instanceof Error ? error.message : String(error))
    }
  })
  ipc.handle(CHANNEL.getState, (event): DesktopState => {
    if (!trusted(event)) throw new Error('This page may not ask for the state.')
    return options.state()
  })
  ipc.on(CHANNEL.dropped, (event, payload: unknown) => {
    const paths = droppedPaths.safeParse(payload)
    if (trusted(event) && paths.success) options.dropped(paths.data)
  })
  ipc.on(CHANNEL.requestPort, (event) => {
    if (trusted(event)) options.sendPort()
  })
}
