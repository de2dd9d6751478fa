import { createServer, type Server, type Socket } from 'node:net'
import { BEAT_MS, fromRankSchema, type Hello, helloSchema } from '../../app/protocol/ranks.ts'
import { mismatch } from './greeting.ts'
import { GroupProblem, stopped } from './problem.ts'
import { type SocketPort, socketPort } from './socket-port.ts'

/** How long to wait for the one who knows why, when a rank has left. */
export const LEFT_MS = 300
const TOLD_MS = 1500
/** What strangers may take of the leader: connections that have said nothing yet, and time and bytes to say it. */
const STRANGERS = 256
const GREETING_MS = 5000
const GREETING_BYTES = 1 << 20

/** A rank that has come. */
export interface Seated {
  readonly hello: Hello
  readonly line: SocketPort
}

export interface GatherOptions {
  /** Where to listen; port 0: any that is free. */
  readonly address: string
  readonly port: number
  /** What the leader says of rank 0; all must fit it. */
  readonly first: Hello
  readonly waitMs: number
  /** Why ranks of which each fits the first one are no group together; undefined when they are. */
  readonly judge?: (all: readonly Hello[]) => GroupProblem | undefined
}

export interface Gathering {
  /** Settles with the port when ranks can come. */
  readonly listening: Promise<number>
  /** All ranks by number, when the last has come. Rejects with a GroupProblem, which those who came are told. */
  readonly complete: Promise<readonly Seated[]>
  /** Ends the waiting as `problem`; nothing once it is complete. */
  fail(problem: GroupProblem): void
  /** After a failure: resolves when all ranks that are to come have been told, or a moment has passed. */
  told(): Promise<void>
  /** Takes no more ranks. */
  close(): void
}

/** Waits for the ranks of a group to come. */
export const gather = (options: GatherOptions): Gathering => {
  const { first, waitMs } = options
  const seated = new Map<number, Seated>()
  const waiting = new Set<Socket>()
  let done = false
  let failed: GroupProblem | undefined
  let toldRanks = 0
  let allTold = (): void => {}
  let resolveAll: (all: readonly Seated[]) => void = () => {}
  let rejectAll: (problem: GroupProblem) => void = () => {}
  const complete = new Promise<readonly Seated[]>((resolve, reject) => {
    resolveAll = resolve
    rejectAll = reject
  })
  complete.catch(() => {})

  const fail = (problem: GroupProblem): void => {
    if (done) return
    done = true
    failed = problem
    endWait()
    for (const { line } of seated.values()) tell(line, problem)
    rejectAll(problem)
  }
  const tell = (line: SocketPort, problem: GroupProblem): void => {
    refuse(line, problem)
    if (++toldRanks >= first.world) allTold()
  }
  const endWait = (): void => {
    clearTimeout(timer)
    clearInterval(beats)
  }
  const close = (): void => {
    endWait()
    server.close()
    for (const socket of waiting) socket.destroy()
  }

  /** Whether it is one of the group. */
  const take = (line: SocketPort, hello: Hello): boolean => {
    const known = seated.get(hello.rank)
    const problem =
      failed ??
      (done
        ? new GroupProblem('ERR_STATE', `the ranks are complete already, rank ${hello.rank} is one too many`)
        : problemOf(first, hello, known?.hello))
    if (problem === undefined) {
      seated.set(hello.rank, { hello, line })
      const left = new GroupProblem('ERR_ABSENT', `rank ${hello.rank} left before all ranks had come`)
      // Whoever started it may know more.
      line.onClose(() => setTimeout(() => fail(left), LEFT_MS))
      if (seated.size === first.world) finish()
      return true
    }
    tell(line, problem)
    fail(problem)
    return false
  }
  const finish = (): void => {
    const all = [...seated.values()].sort((a, b) => a.hello.rank - b.hello.rank)
    const problem = options.judge?.(all.map(({ hello }) => hello))
    if (problem !== undefined) {
      fail(problem)
      return
    }
    done = true
    endWait()
    resolveAll(all)
  }

  const server = createServer((socket) => {
    waiting.add(socket)
    const [oldest] = waiting
    if (waiting.size > STRANGERS) oldest?.destroy()
    const late = setTimeout(() => socket.destroy(), GREETING_MS).unref()
    socket.on('close', () => {
      waiting.delete(socket)
      clearTimeout(late)
    })
    const line = socketPort(socket, GREETING_BYTES)
    let greeted = false
    line.onMessage((message) => {
      if (greeted) {
        // Until the group begins the rest are signs of life.
        if (fromRankSchema.safeParse(message).data?.type === 'stop') fail(stopped())
        return
      }
      greeted = true
      waiting.delete(socket)
      const hello = helloSchema.safeParse(message)
      // Others knock at ports as well.
      if (!hello.success || hello.data.token !== first.token) line.close()
      else if (take(line, hello.data)) clearTimeout(late)
    })
  })
  const timer = setTimeout(() => fail(absent(seated, options, waitMs)), waitMs)
  // Those who came first may wait for longer than they would for a leader that is silent.
  const beats = setInterval(() => {
    for (const { line } of seated.values()) line.post({ type: 'beat' })
  }, BEAT_MS)
  const told = (): Promise<void> =>
    new Promise((resolve) => {
      allTold = resolve
      if (toldRanks >= first.world || failed?.code === 'ERR_ABSENT') resolve()
      else setTimeout(resolve, TOLD_MS)
    })
  return { listening: listening(server, options), complete, fail, told, close }
}

const listening = (server: Server, { address, port }: GatherOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    server.on('error', (error) =>
      reject(new GroupProblem('ERR_ENGINE', `rank 0 cannot listen at ${address}:${port}: ${error.message}`)),
    )
    // A name of this machine may lead to an address that only it can reach.
    server.listen({ port, ...(isLoopback(address) ? { host: address } : {}) }, () => {
      const bound = server.address()
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
    })
  })

/** Whether it is an address of this machine that nobody else can mean. */
export const isLoopback = (address: string): boolean => /^(localhost|127\..*|::1)$/.test(address)

const problemOf = (first: Hello, hello: Hello, same: Hello | undefined): GroupProblem | undefined => {
  const refused = (sentence: string): GroupProblem => new GroupProblem('ERR_CONFIG', sentence)
  const who = `rank ${hello.rank} (${hello.host}, process ${hello.pid})`
  if (hello.world !== first.world)
    return refused(`${who} has the world size ${hello.world}, rank 0 has ${first.world}`)
  if (hello.rank < 0 || hello.rank >= first.world)
    return refused(`${who} is beyond the world size ${first.world}`)
  if (same !== undefined)
    return refused(
      `rank ${hello.rank} came twice: ${same.host}, process ${same.pid}, and ${hello.host}, process ${hello.pid}`,
    )
  const difference = mismatch(first, hello)
  return difference === undefined ? undefined : refused(difference)
}

const absent = (
  seated: ReadonlyMap<number, Seated>,
  { first, address, port }: GatherOptions,
  waitMs: number,
): GroupProblem => {
  const missing = Array.from({ length: first.world }, (_, rank) => rank).filter((rank) => !seated.has(rank))
  const where = port === 0 ? '' : ` to ${address}:${port}`
  return new GroupProblem(
    'ERR_ABSENT',
    `${rankList(missing)} of ${first.world} did not come${where} within ${waitMs / 1000} s`,
  )
}

/** `rank 2`, `ranks 1, 3 and 5`; many are only counted. */
export const rankList = (ranks: readonly number[]): string => {
  if (ranks.length === 1) return `rank ${ranks[0]}`
  if (ranks.length > 8) return `${ranks.length} ranks, the first is rank ${ranks[0]},`
  return `ranks ${ranks.slice(0, -1).join(', ')} and ${ranks.at(-1)}`
}

const refuse = (line: SocketPort, { code, message }: GroupProblem): void => {
  line.postText({ type: 'over', status: 'failed', error: message, code })
  line.finish()
}
