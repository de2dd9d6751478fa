import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { engineEventSchema } from '../../app/protocol/engine.ts'
import { childEnd } from '../process/child-end.ts'
import { ipcPorts, type Port } from '../process/port.ts'
import { type SilenceWatch, watchSilence } from '../process/silence.ts'
import type { EngineLine } from '../sweep/engine-line.ts'
import { CliFailure, EXIT } from './failure.ts'

/** The engine host as a child process: a crash of the native engine leaves this process and the store alone. */
export interface EngineProcess extends EngineLine {
  readonly data: Port
  kill(): void
}

const CLOSE_MS = 5000

export const startEngine = (distDir: string): EngineProcess => {
  const script = join(distDir, 'engine-host.js')
  if (!existsSync(script))
    throw new CliFailure(
      EXIT.engineFailed,
      `the engine host is missing; run "npm run build" (looked for ${script})`,
    )
  const child = fork(script, [], {
    serialization: 'advanced',
    // Nothing that a library prints may get into the one JSON document on stdout.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  })
  const { control, data } = ipcPorts(child)
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  let silence: SilenceWatch | undefined
  const exited = ending(child).then((how) => {
    const silent = silence?.release()
    return silent === undefined ? how : `the engine process ${silent}`
  })
  return {
    data,
    exited,
    kill,
    send: (command) => control.post(command),
    onEvent: (listener) =>
      control.onMessage((message) => {
        const event = engineEventSchema.safeParse(message)
        silence?.heard()
        if (event.success) listener(event.data)
        else process.stderr.write('dcpscope: the engine sent something unknown; it was ignored\n')
      }),
    watch: () => {
      silence ??= watchSilence(kill, () => control.post({ type: 'ping', seq: 0 }))
    },
    close: async () => {
      const late = setTimeout(kill, CLOSE_MS)
      control.close()
      data.close()
      await exited
      clearTimeout(late)
    },
  }
}

const ending = async (child: ChildProcess): Promise<string> => {
  const { how, words } = await childEnd(child)
  if (words === '') return `the engine process ${how}`
  return /^dcpscope engine: (.*)/.exec(words)?.[1] ?? `the engine process ${how}: ${words}`
}
