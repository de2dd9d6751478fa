import { useEffect, useState } from 'react'
import type { DesktopState } from '../../app/protocol/desktop.ts'
import { SourceBadge } from '../controls/SourceBadge.tsx'
import { formatBytes, formatInt, formatRate } from '../drawing/format.ts'
import { stepNote } from '../drawing/provenance.ts'
import { type Message, useMessages } from '../state/messages.ts'
import { runStateOf } from '../state/run-state.ts'
import { useSession } from '../state/session.ts'
import { shortProgress } from '../state/sweep-state.ts'
import { useView } from '../state/view.ts'
import { MessageIcon, PauseIcon } from './icons.tsx'
import { Popover } from './Popover.tsx'

const SAMPLE_MS = 3000

/** Bytes of this page's heap; null where the browser does not say. */
const heapBytes = (): number | null => {
  const memory: unknown = Reflect.get(performance, 'memory')
  const used: unknown =
    typeof memory === 'object' && memory !== null ? Reflect.get(memory, 'usedJSHeapSize') : null
  return typeof used === 'number' ? used : null
}

const useHeap = (): number | null => {
  const [bytes, setBytes] = useState(heapBytes)
  useEffect(() => {
    const timer = setInterval(() => setBytes(heapBytes()), SAMPLE_MS)
    return () => clearInterval(timer)
  }, [])
  return bytes
}

const ProcessState = ({
  name,
  state,
}: {
  readonly name: string
  readonly state: DesktopState['engine'] | undefined
}) => {
  const status = state?.status ?? 'starting'
  return (
    <span
      className={`status-process status-${status}`}
      title={state?.status === 'ready' ? `process ${state.pid}` : undefined}
    >
      <span className="status-dot" />
      {name} {status}
    </span>
  )
}

const timeText = (at: number): string => new Date(at).toLocaleTimeString('en-GB')

const MessageLine = ({ message }: { readonly message: Message }) => (
  <li className={`message message-${message.level}`}>
    <time className="num">{timeText(message.at)}</time>
    <span className="selectable">{message.text}</span>
  </li>
)

const Messages = () => {
  const { messages, clear } = useMessages()
  const last = messages.at(-1)
  return (
    <Popover
      title="All messages"
      side="above"
      testId="messages"
      className={`status-message message-${last?.level ?? 'info'}`}
      label={
        <>
          <MessageIcon />
          <span className="status-message-text">{last?.text ?? 'No messages'}</span>
          {messages.length > 1 ? <span className="num quiet">{formatInt(messages.length)}</span> : null}
        </>
      }
    >
      {() => (
        <div className="messages">
          <div className="messages-head">
            <h3>Messages</h3>
            <button
              type="button"
              className="button button-quiet"
              disabled={messages.length === 0}
              onClick={clear}
            >
              Clear
            </button>
          </div>
          {messages.length === 0 ? <p className="messages-none quiet">Nothing was said yet.</p> : null}
          <ol>
            {[...messages].reverse().map((message) => (
              <MessageLine key={message.id} message={message} />
            ))}
          </ol>
        </div>
      )}
    </Popover>
  )
}

/** The sweep that this app measures, whatever is shown: how far it is, the way to it, and to pause it. */
const SweepItem = () => {
  const active = useSession((s) => s.desktop?.activeSweep ?? null)
  const { openRunById, pauseSweep } = useSession()
  const show = useView((s) => s.show)
  if (active === null) return null
  return (
    <span className="status-item status-sweep" data-testid="status-sweep">
      <button
        type="button"
        className="status-link"
        title={`Show ${active.name}`}
        onClick={() => {
          void openRunById(active.run)
          show('throughput')
        }}
      >
        sweep <span className="num">{shortProgress(active)}</span>
      </button>
      <button
        type="button"
        className="button button-quiet button-icon status-pause"
        title="Pause the sweep (Space)"
        aria-label="Pause the sweep"
        data-testid="status-pause"
        disabled={active.pausing}
        onClick={() => void pauseSweep()}
      >
        <PauseIcon />
      </button>
    </span>
  )
}

/** State of the processes, live rate, losses, memory, and what was said last. */
export const StatusLine = () => {
  const desktop = useSession((s) => s.desktop)
  const progress = useSession((s) => s.progress)
  const dropped = useSession((s) => s.progress?.dropped ?? s.openRun?.manifest.summary?.dropped ?? null)
  const openRun = useSession((s) => s.openRun)
  const heap = useHeap()
  const running = useSession((s) => runStateOf(s)?.phase === 'running')
  return (
    <footer className="status-line">
      <ProcessState name="engine" state={desktop?.engine} />
      <ProcessState name="store" state={desktop?.store} />
      <span className="status-item">
        rate{' '}
        <span className="num status-number">
          {running && progress !== null ? formatRate(progress.tokensPerSecond) : '–'}
        </span>{' '}
        tokens/s
        <SourceBadge
          source={
            running && progress !== null && openRun !== null
              ? stepNote(progress.provenance, openRun.manifest)
              : undefined
          }
        />
      </span>
      <span
        className={dropped !== null && dropped > 0 ? 'status-item status-lost' : 'status-item'}
        title="Spans that were lost; must be 0"
      >
        dropped <span className="num status-number">{dropped === null ? '–' : formatInt(dropped)}</span>
      </span>
      {heap === null ? null : (
        <span className="status-item" title="Heap of the window, as Chromium says">
          memory <span className="num status-number">{formatBytes(heap)}</span>
        </span>
      )}
      <SweepItem />
      <Messages />
      <span
        className="status-item quiet status-version"
        title={
          desktop === null
            ? undefined
            : `Electron ${desktop.runtime.electron}, Chrome ${desktop.runtime.chrome}, Node ${desktop.runtime.node}`
        }
      >
        dcpscope {desktop?.runtime.app ?? ''}
      </span>
    </footer>
  )
}
