import type { ElectronPort } from './port.ts'

/** Line of an Electron utility process to main; E is what it tells main. */
export interface ParentPort<E> {
  on(event: 'message', listener: (event: { data: unknown; ports: ElectronPort[] }) => void): unknown
  postMessage(message: E): void
}

const isParentPort = <E>(value: unknown): value is ParentPort<E> =>
  typeof value === 'object' && value !== null && 'postMessage' in value && 'on' in value

/** This process' line to main; undefined in a process that is no utility process. */
export const parentPort = <E>(): ParentPort<E> | undefined => {
  const port: unknown = Reflect.get(process, 'parentPort')
  return isParentPort<E>(port) ? port : undefined
}

/** `type` of a message that is not yet parsed; undefined where there is none. */
export const messageType = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined
