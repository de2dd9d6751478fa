import type { IpcMain, IpcMainEvent, IpcMainInvokeEvent, WebContents, WebFrameMain } from 'electron'
import { CHANNEL } from '../../app/protocol/channels.ts'
import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import { originOf } from './url.ts'

/** What answers the page. Payloads come as they were sent, of whatever type. */
export interface PageServices {
  readonly command: (payload: unknown) => Promise<CommandResult>
  readonly state: () => DesktopState
  readonly sendPort: () => void
  /** Opens what a person dropped on the window. */
  readonly dropped: (payload: unknown) => void
}

export interface GatewayOptions {
  readonly ipc: Pick<IpcMain, 'handle' | 'on'>
  /** Contents of our window, undefined when there is none. */
  readonly contents: () => WebContents | undefined
  /** Origins at which our page may live. */
  readonly origins: readonly string[]
  /** Makes what answers the page. Called once, with the first message. */
  readonly services: () => Promise<PageServices>
  readonly complain: (sentence: string) => void
}

const refused = (message: string): CommandResult => ({ ok: false, message, issues: [] })

/** Whether a frame is the main frame of our window, at an address of ours. */
export const isOurs = (
  frame: Pick<WebFrameMain, 'url' | 'parent'> | null,
  main: Pick<WebFrameMain, 'url' | 'parent'> | undefined,
  origins: readonly string[],
): boolean =>
  frame !== null && frame === main && frame.parent === null && origins.includes(originOf(frame.url))

/** The one door between the page and this process: every sender is checked here, before anything is answered. */
export const openGateway = (options: GatewayOptions): void => {
  const { ipc, complain } = options
  let made: Promise<PageServices> | undefined
  const services = (): Promise<PageServices> => {
    made ??= options.services()
    return made
  }
  const trusted = (event: IpcMainEvent | IpcMainInvokeEvent): boolean => {
    const ours = isOurs(event.senderFrame, options.contents()?.mainFrame, options.origins)
    if (!ours) complain('refused a message of a frame that is not the window')
    return ours
  }
  const withServices = (use: (services: PageServices) => void): void => {
    services().then(use, (error: unknown) => complain(error instanceof Error ? error.message : String(error)))
  }
  ipc.handle(CHANNEL.command, async (event, payload: unknown): Promise<CommandResult> => {
    if (!trusted(event)) return refused('This page may not send commands.')
    try {
      return await (await services()).command(payload)
    } catch (error) {
      complain(`a command failed: ${error instanceof Error ? error.message : String(error)}`)
      return refused(error instanceof Error ? error.message : String(error))
    }
  })
  ipc.handle(CHANNEL.getState, async (event): Promise<DesktopState> => {
    if (!trusted(event)) throw new Error('This page may not ask for the state.')
    return (await services()).state()
  })
  ipc.on(CHANNEL.dropped, (event, payload: unknown) => {
    if (trusted(event)) withServices(({ dropped }) => dropped(payload))
  })
  ipc.on(CHANNEL.requestPort, (event) => {
    if (trusted(event)) withServices(({ sendPort }) => sendPort())
  })
}
