import { z } from 'zod'
import { diagnosisSchema } from '../diagnosis/result.ts'
import { machineSchema, predictionSchema } from '../run/machine.ts'
import { settingsSchema } from '../settings/settings.ts'
import { RUN_STATUSES } from '../trace/manifest.ts'
import { sweepEndSchema, sweepProgressSchema } from './sweep.ts'

/** State that main owns and every window shows. */
const processState = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('starting') }),
  z.strictObject({ status: z.literal('ready'), pid: z.int() }),
  /** Died or hangs; `message` says what happened and what was kept. The window offers a restart. */
  z.strictObject({ status: z.literal('crashed'), message: z.string() }),
])
export type ProcessState = z.output<typeof processState>

/** Answer to a command: a refusal is a sentence for the person, with the fields it is about. */
export const commandResultSchema = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    run: z.string().optional(),
    /** Ids of further runs that were opened with it. */
    others: z.array(z.string()).optional(),
    /** Why some of what was named was not opened, a sentence each. */
    refused: z.array(z.string()).optional(),
    /** Id of a dump that was opened. */
    dump: z.string().optional(),
    diagnosis: diagnosisSchema.optional(),
    prediction: predictionSchema.optional(),
    /** Where a file was saved, by its name. */
    saved: z.string().optional(),
  }),
  z.strictObject({
    ok: z.literal(false),
    message: z.string(),
    issues: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  }),
])
export type CommandResult = z.output<typeof commandResultSchema>

export const desktopStateSchema = z.strictObject({
  engine: processState,
  store: processState,
  /** The run in progress, else null. */
  activeRun: z
    .strictObject({
      id: z.string(),
      phase: z.enum(['starting', 'filling', 'running', 'paused', 'finishing']),
      fraction: z.number(),
    })
    .nullable(),
  /** How the last run of this session ended. */
  lastRun: z
    .strictObject({ id: z.string(), status: z.enum(RUN_STATUSES), error: z.string().optional() })
    .nullable(),
  /** The sweep that this app measures, else null. */
  activeSweep: z
    .strictObject({
      /** Id of its bundle, and the name. */
      run: z.string(),
      name: z.string(),
      /** Whether there is a bundle by now. */
      kept: z.boolean(),
      /** It was asked to end and closes its bundle. */
      pausing: z.boolean(),
      /** null while the processes start. */
      progress: sweepProgressSchema.nullable(),
    })
    .nullable(),
  /** How the measuring of the last sweep of this session ended; `seq` rises with each. */
  lastSweep: z
    .strictObject({ seq: z.int(), run: z.string(), name: z.string(), end: sweepEndSchema })
    .nullable(),
  /** Outcome of what was opened by the menu, the command line or by dropping it; `seq` rises with each. */
  opened: z.strictObject({ seq: z.int(), result: commandResultSchema }).optional(),
  /** The link that was handed to the app last, as it came: text of anybody. `seq` rises with each. */
  link: z.strictObject({ seq: z.int(), text: z.string() }).optional(),
  /** Dumps that were opened, the latest first. */
  dumps: z.array(z.strictObject({ id: z.string(), name: z.string() })),
  /** The diagnosis in progress: of which dump or run, and how much of it is done, 0 to 1. */
  diagnosis: z.strictObject({ dump: z.string(), share: z.number() }).nullable(),
  runtime: z.strictObject({
    app: z.string(),
    electron: z.string(),
    chrome: z.string(),
    node: z.string(),
    engine: z.string(),
    device: z.string(),
  }),
  settings: settingsSchema,
  /** What was wrong with the kept settings at the start. */
  settingsProblem: z.string().optional(),
  /** What the engine can run on; null until it has looked. */
  machine: machineSchema.nullable(),
})
export type DesktopState = z.output<typeof desktopStateSchema>

/** Characters, or bytes, of a file that is saved at most. */
export const MAX_SAVED = 1 << 28

/** One entry a channel: the renderer invokes, main answers. Every payload is parsed on arrival. */
export const desktopCommands = {
  /** `config` is parsed by parseRunConfig in main; the renderer's own check is only for typing comfort. */
  startRun: { params: z.strictObject({ config: z.unknown(), name: z.string().max(120).optional() }) },
  /** Memory that a run of `config` would take on its device: `prediction` of the result. */
  predictMemory: { params: z.strictObject({ config: z.unknown() }) },
  pauseRun: { params: z.strictObject({}) },
  resumeRun: { params: z.strictObject({}) },
  stopRun: { params: z.strictObject({}) },
  /** Measures a new sweep; `config` is parsed by parseSweepInWindow in main. Refused while a run or a sweep is in progress. */
  startSweep: { params: z.strictObject({ config: z.unknown(), name: z.string().max(120).optional() }) },
  /** Ends the measuring and keeps what was measured. */
  pauseSweep: { params: z.strictObject({}) },
  /** Goes on with a sweep that is not complete, whoever began it. */
  resumeSweep: { params: z.strictObject({ run: z.string() }) },
  restart: { params: z.strictObject({ process: z.enum(['engine', 'store']) }) },
  /** Asks for folders of bundles; `ok` without `run` when cancelled. */
  openBundle: { params: z.strictObject({}) },
  /** Asks for files or folders of a tensor dump; `ok` without `dump` when cancelled, with `run` for bundles. */
  openDump: { params: z.strictObject({ pick: z.enum(['files', 'folder']) }) },
  /** Takes a dump out of the list; its files stay. */
  forgetDump: { params: z.strictObject({ dump: z.string() }) },
  /**
   * Looks for the cause of bad outputs in a dump, or in what a run captured: `diagnosis` of the result, which comes when it is
   * done. Takes the place of one in progress.
   */
  diagnose: { params: z.strictObject({ dump: z.string(), allRows: z.boolean() }) },
  cancelDiagnosis: { params: z.strictObject({}) },
  /** Shows the bundle in the file manager. */
  revealRun: { params: z.strictObject({ run: z.string() }) },
  /** Asks where to, and writes a file there: `ok` without `saved` when cancelled. */
  saveFile: {
    params: z.strictObject({
      name: z.string().regex(/^[\w][\w. -]{0,119}$/),
      content: z.union([
        z.string().max(MAX_SAVED),
        z.instanceof(Uint8Array).refine((bytes) => bytes.byteLength <= MAX_SAVED),
      ]),
    }),
  },
  /** Changes settings for now and for later starts. */
  changeSettings: { params: z.strictObject({ change: settingsSchema.partial() }) },
} as const
export type DesktopCommand = keyof typeof desktopCommands
export type DesktopParams<C extends DesktopCommand> = z.input<(typeof desktopCommands)[C]['params']>

/** What the preload puts on `window.dcpscope`: the renderer's only way out besides the store's port. */
export interface DesktopBridge {
  invoke<C extends DesktopCommand>(command: C, params: DesktopParams<C>): Promise<CommandResult>
  getState(): Promise<DesktopState>
  /** Calls back with each new state; returns the unsubscriber. */
  onState(listener: (state: DesktopState) => void): () => void
  /** Asks main for a port to the store; it arrives as a window message `{type: STORE_PORT}` with one port. */
  requestStorePort(): void
}

export { CHANNEL, STORE_PORT } from './channels.ts'
