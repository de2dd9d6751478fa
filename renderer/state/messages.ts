import { create } from 'zustand'

export type MessageLevel = 'info' | 'warning' | 'error'

export interface Message {
  readonly id: number
  readonly level: MessageLevel
  readonly text: string
  /** Wall time, milliseconds since 1970. */
  readonly at: number
}

const MOST = 200

interface MessageStore {
  /** Newest last. */
  readonly messages: readonly Message[]
  readonly add: (level: MessageLevel, text: string, at: number) => void
  readonly clear: () => void
}

/** What the person was told, for the status line and its history. */
export const useMessages = create<MessageStore>((set) => ({
  messages: [],
  add: (level, text, at) =>
    set(({ messages }) => {
      const last = messages.at(-1)
      if (last?.text === text && at - last.at < 2000) return {}
      return { messages: [...messages, { id: (last?.id ?? 0) + 1, level, text, at }].slice(-MOST) }
    }),
  clear: () => set({ messages: [] }),
}))

/** Puts a sentence on the status line. The same sentence within two seconds is said once. */
export const tell = (level: MessageLevel, text: string): void =>
  useMessages.getState().add(level, text, Date.now())
