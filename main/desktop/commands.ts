import type { z } from 'zod'
import { type CommandResult, type DesktopCommand, desktopCommands } from '../../app/protocol/desktop.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { type ConfigIssue, issueText, parseRunConfig } from '../../app/run/parse.ts'
import { unsupportedInWindow } from '../../app/run/support.ts'
import type { Settings } from '../../app/settings/settings.ts'
import { parseSweepInWindow } from '../../app/sweep/parse.ts'
import { makeFolder } from '../process/make-folder.ts'
import { runIdOf } from '../process/run-id.ts'
import { bundlePath, newRunName, runLabel } from '../process/runs-folder.ts'
import type { Bundles } from './bundles.ts'
import { isBundle } from './paths.ts'
import { refusal, type Supervisor } from './supervisor.ts'
import { saveProblem } from './write-whole.ts'

/** What commands need of the desktop around them. */
export interface CommandServices {
  readonly supervisor: Pick<
    Supervisor<unknown>,
    | 'state'
    | 'startRun'
    | 'predict'
    | 'control'
    | 'startSweep'
    | 'pauseSweep'
    | 'restart'
    | 'open'
    | 'openDump'
    | 'forgetDump'
    | 'diagnose'
    | 'cancelDiagnosis'
  >
  readonly runsFolder: string
  /** Asks the person for folders of bundles; none when cancelled. */
  readonly chooseBundles: () => Promise<readonly string[]>
  /** Asks the person for files or folders of a dump; none when cancelled. */
  readonly chooseDump: (pick: 'files' | 'folder') => Promise<readonly string[]>
  readonly bundles: Bundles
  readonly showInFolder: (path: string) => void
  /** Asks the person where to, and writes the file there; its name, undefined when cancelled. */
  readonly saveFile: (name: string, content: string | Uint8Array) => Promise<string | undefined>
  /** Throws where they cannot be kept. */
  readonly changeSettings: (change: Partial<Settings>) => void
}

/** One a command; takes the payload as it came and parses it. */
export type DesktopHandlers = Readonly<
  Record<DesktopCommand, (params: unknown) => CommandResult | Promise<CommandResult>>
>

/** Without parts that are undefined, as a schema of optional ones gives them. */
const definedOf = (change: { readonly [K in keyof Settings]?: Settings[K] | undefined }): Partial<Settings> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))

const parsing =
  <S extends z.ZodType>(
    command: DesktopCommand,
    schema: S,
    run: (params: z.output<S>) => CommandResult | Promise<CommandResult>,
  ) =>
  (params: unknown): CommandResult | Promise<CommandResult> => {
    const parsed = schema.safeParse(params)
    return parsed.success
      ? run(parsed.data)
      : {
          ok: false,
          message: `The command ${command} was refused: its parameters are not valid.`,
          issues: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
        }
  }

const UNKNOWN_FOLDER = refusal('The folder of this run is not known or was removed.')

export const desktopHandlers = (services: CommandServices): DesktopHandlers => {
  const { supervisor, bundles } = services
  const {
    startRun: start,
    predictMemory: predict,
    pauseRun: pause,
    resumeRun: resume,
    stopRun: stop,
    startSweep: sweep,
    pauseSweep,
    resumeSweep,
    restart,
    openBundle: open,
    openDump,
    forgetDump,
    diagnose,
    cancelDiagnosis,
    revealRun: reveal,
    saveFile: save,
    changeSettings: settings,
  } = desktopCommands
  return {
    startRun: parsing('startRun', start.params, (params) => startRun(services, params)),
    predictMemory: parsing('predictMemory', predict.params, ({ config }) => {
      const checked = runnable(services, config)
      return checked.ok ? supervisor.predict(checked.config) : checked
    }),
    pauseRun: parsing('pauseRun', pause.params, () => supervisor.control('pause')),
    resumeRun: parsing('resumeRun', resume.params, () => supervisor.control('resume')),
    stopRun: parsing('stopRun', stop.params, () => supervisor.control('stop')),
    startSweep: parsing('startSweep', sweep.params, (params) => startSweep(services, params)),
    pauseSweep: parsing('pauseSweep', pauseSweep.params, () => supervisor.pauseSweep()),
    resumeSweep: parsing('resumeSweep', resumeSweep.params, async ({ run }) => {
      const folder = await bundles.find(run)
      return folder === undefined ? UNKNOWN_FOLDER : supervisor.startSweep({ type: 'goOn', folder })
    }),
    restart: parsing('restart', restart.params, (params) => supervisor.restart(params.process)),
    openBundle: parsing('openBundle', open.params, async () =>
      openBundles(services, await services.chooseBundles()),
    ),
    openDump: parsing('openDump', openDump.params, async ({ pick }) =>
      openPaths(services, await services.chooseDump(pick)),
    ),
    forgetDump: parsing('forgetDump', forgetDump.params, ({ dump }) => {
      supervisor.forgetDump(dump)
      return { ok: true }
    }),
    diagnose: parsing('diagnose', diagnose.params, async ({ dump, allRows }) => {
      const bundle = await bundles.find(dump)
      return supervisor.diagnose(dump, bundle === undefined ? undefined : [bundle], allRows)
    }),
    cancelDiagnosis: parsing('cancelDiagnosis', cancelDiagnosis.params, () => {
      supervisor.cancelDiagnosis()
      return { ok: true }
    }),
    revealRun: parsing('revealRun', reveal.params, async ({ run }) => {
      const folder = await bundles.find(run)
      if (folder === undefined) return UNKNOWN_FOLDER
      services.showInFolder(folder)
      return { ok: true }
    }),
    saveFile: parsing('saveFile', save.params, async ({ name, content }) => {
      try {
        const saved = await services.saveFile(name, content)
        return saved === undefined ? { ok: true } : { ok: true, saved }
      } catch (error) {
        return refusal(`Nothing was saved: ${saveProblem(error)}`)
      }
    }),
    changeSettings: parsing('changeSettings', settings.params, ({ change }) => {
      try {
        services.changeSettings(definedOf(change))
        return { ok: true }
      } catch (error) {
        return refusal(`Settings hold until the app is closed and were not kept: ${saveProblem(error)}`)
      }
    }),
  }
}

type Openers = Pick<CommandServices, 'supervisor' | 'bundles'>

/** Makes a bundle anywhere on disk known to the store. */
const openBundle = async ({ supervisor, bundles }: Openers, folder: string): Promise<CommandResult> => {
  const result = await supervisor.open(folder)
  if (result.ok) bundles.remember(folder)
  return result
}

/** Makes bundles known to the store; one that cannot be opened keeps no other from it. */
export const openBundles = async (services: Openers, folders: readonly string[]): Promise<CommandResult> => {
  const results = await Promise.all(folders.map((folder) => openBundle(services, folder)))
  return joined(results)
}

/** Opens what a person named: each bundle of a run as a run, all else together as one dump. */
export const openPaths = async (services: Openers, paths: readonly string[]): Promise<CommandResult> => {
  const [bundles, files] = [paths.filter(isBundle), paths.filter((path) => !isBundle(path))]
  if (files.length === 0) return openBundles(services, bundles)
  const dump = services.supervisor.openDump(files)
  return bundles.length === 0 ? dump : joined([dump, await openBundles(services, bundles)])
}

/** One answer for several: what was opened, the first of it to be shown, and why the rest was not. */
const joined = (results: readonly CommandResult[]): CommandResult => {
  const [only] = results
  if (only !== undefined && results.length === 1) return only
  const opened = results.flatMap((result) => (result.ok ? [result] : []))
  const refused = results.flatMap((result) => (result.ok ? (result.refused ?? []) : [result.message]))
  if (opened.length === 0 && refused.length > 0) return refusal(refused.join(' '))
  const runs = opened.flatMap(({ run, others = [] }) => [...(run === undefined ? [] : [run]), ...others])
  const [run, ...others] = runs
  const dump = opened.find((result) => result.dump !== undefined)?.dump
  return {
    ok: true,
    ...(run === undefined ? {} : { run }),
    ...(others.length === 0 ? {} : { others }),
    ...(dump === undefined ? {} : { dump }),
    ...(refused.length === 0 ? {} : { refused }),
  }
}

type Runnable = { readonly ok: true; readonly config: RunConfig } | Extract<CommandResult, { ok: false }>

/** The first thing that keeps a configuration from running, for where there is no list of all. */
const refusalText = (what: 'configuration' | 'sweep', [first, ...others]: readonly ConfigIssue[]): string =>
  first === undefined
    ? `This ${what} cannot run.`
    : `This ${what} cannot run: ${issueText(first)}${others.length === 0 ? '' : `, and ${others.length} more`}.`

/** The configuration with its defaults, or why the engine of this machine cannot run it. */
const runnable = ({ supervisor }: CommandServices, given: unknown): Runnable => {
  const parsed = parseRunConfig(given)
  const cuda = supervisor.state().machine?.cuda
  const issues = parsed.ok ? unsupportedInWindow(parsed.config, cuda) : parsed.issues
  return parsed.ok && issues.length === 0
    ? { ok: true, config: parsed.config }
    : { ok: false, message: refusalText('configuration', issues), issues: [...issues] }
}

interface NewBundle {
  readonly name: string
  readonly bundle: string
}

/** A bundle of the runs folder that is not there yet, named by a label; a refusal where that folder cannot be made. */
const newBundle = (folder: string, label: string): NewBundle | Extract<CommandResult, { ok: false }> => {
  try {
    makeFolder(folder)
  } catch (error) {
    return {
      ok: false,
      message: `The folder of runs cannot be made: ${error instanceof Error ? error.message : String(error)}`,
      issues: [],
    }
  }
  const name = newRunName(folder, label)
  return { name, bundle: bundlePath(folder, name) }
}

const startRun = async (
  services: CommandServices,
  { config, name }: { config?: unknown; name?: string | undefined },
): Promise<CommandResult> => {
  const checked = runnable(services, config)
  if (!checked.ok) return checked
  const made = newBundle(services.runsFolder, runLabel(checked.config))
  if ('ok' in made) return made
  const result = services.supervisor.startRun({
    type: 'start',
    runId: runIdOf(made.bundle),
    bundle: made.bundle,
    name: name?.trim() || made.name,
    config: checked.config,
  })
  if (result.ok) services.bundles.remember(made.bundle)
  return result
}

const startSweep = (
  { supervisor, runsFolder }: CommandServices,
  { config, name }: { config?: unknown; name?: string | undefined },
): CommandResult => {
  const parsed = parseSweepInWindow(config, supervisor.state().machine?.cuda)
  if (!parsed.ok)
    return { ok: false, message: refusalText('sweep', parsed.issues), issues: [...parsed.issues] }
  const made = newBundle(runsFolder, `sweep-${runLabel(parsed.config.base)}`)
  if ('ok' in made) return made
  return supervisor.startSweep({
    type: 'begin',
    folder: made.bundle,
    name: name?.trim() || made.name,
    config: parsed.config,
  })
}
