import { assignmentSchema, BEAT_MS, type Quiet } from '../../app/protocol/ranks.ts'
import { loadAddon } from '../engine/load-addon.ts'
import { type MemberEnd, runMember } from './member.ts'
import { ALIVE } from './rank-process.ts'

/** Entry of the process of one rank: its assignment comes over the IPC channel, and how it ended goes back. */

const FAILED = 3
/** For what is left to do when the process that started this one is gone. */
const LAST_WORDS_MS = 300

const serve = async (message: unknown, asked: AbortSignal): Promise<MemberEnd> => {
  try {
    return await runMember(loadAddon(__dirname), assignmentSchema.parse(message), asked, (beats) => {
      process.send?.({ type: 'quiet', beats } satisfies Quiet)
    })
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error)
    return { over: { type: 'over', status: 'failed', error: sentence }, stuck: false }
  }
}

/** A regular exit waits for threads of the engine, which may hang for ever. */
const killed = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

const leave = ({ over, stuck }: MemberEnd): void => {
  if (stuck) killed()
  else process.exit(over.status === 'failed' || over.status === 'interrupted' ? FAILED : 0)
}

if (process.send === undefined) {
  process.stderr.write('this script is started by dcpscope, not by hand\n')
  process.exit(2)
}
// Whichever rank is asked to end, all end together.
const asked = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => asked.abort())
process.on('disconnect', () => setTimeout(killed, LAST_WORDS_MS))
setInterval(() => process.send?.(ALIVE), BEAT_MS)
process.once('message', async (message) => {
  const end = await serve(message, asked.signal)
  if (process.connected) process.send?.(end.over, () => leave(end))
  else leave(end)
})
