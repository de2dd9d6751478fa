import type { Child, Death, Forge, ForkName } from '../../../main/desktop/child.ts'

/** A message as a fake process received it. */
export interface Received {
  readonly message: unknown
  readonly ports: readonly string[]
}

/** A process of the test: it records what it gets and does what the test says. */
export interface FakeChild extends Child<string> {
  readonly name: ForkName
  readonly received: Received[]
  readonly killed: boolean
  /** What `lastWords` gives. */
  words: string
  say(message: unknown): void
  die(death: Death): void
}

const fakeChild = (name: ForkName, pid: number): FakeChild => {
  const received: Received[] = []
  const listeners: ((message: unknown) => void)[] = []
  const gone: ((death: Death) => void)[] = []
  let killed = false
  return {
    name,
    received,
    get killed() {
      return killed
    },
    pid: () => pid,
    post: (message, ports = []) => {
      received.push({ message, ports })
    },
    onMessage: (listener) => {
      listeners.push(listener)
    },
    onGone: (listener) => {
      gone.push(listener)
    },
    kill: () => {
      killed = true
    },
    words: '',
    lastWords() {
      return this.words
    },
    say: (message) => {
      for (const listener of listeners) listener(message)
    },
    die: (death) => {
      for (const listener of gone) listener(death)
    },
  }
}

export interface FakeForge extends Forge<string> {
  readonly children: FakeChild[]
  /** The process of that name that was forked last. */
  latest(name: ForkName): FakeChild
}

export const fakeForge = (): FakeForge => {
  const children: FakeChild[] = []
  let channels = 0
  return {
    children,
    fork: (name) => {
      const child = fakeChild(name, 100 + children.length)
      children.push(child)
      return child
    },
    channel: () => {
      channels++
      return [`${channels}a`, `${channels}b`]
    },
    latest: (name) => {
      const child = children.findLast((candidate) => candidate.name === name)
      if (child === undefined) throw new Error(`no ${name} was forked`)
      return child
    },
  }
}

/** Types of the messages that a process received, in order. */
export const types = (child: FakeChild): unknown[] =>
  child.received.map(({ message }) =>
    typeof message === 'object' && message !== null && 'type' in message ? message.type : message,
  )
