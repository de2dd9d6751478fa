import { join } from 'node:path'
import type { RunConfig } from '../../app/run/config.ts'
import { issueText } from '../../app/run/parse.ts'
import { unsupported } from '../../app/run/support.ts'
import { scenarioNamed } from '../../app/scenarios/index.ts'
import { type Scenario, scenarioConfigs } from '../../app/scenarios/scenario.ts'
import { type BundleFolder, chooseBundle, newFolder } from './bundle-folder.ts'
import { badInput, EXIT, type ExitCode } from './failure.ts'
import { type CommandResult, type RunOptions, type RunReport, runInto } from './run-command.ts'
import { scenarioText } from './scenarios-command.ts'

export interface ScenarioOptions extends RunOptions {
  readonly scenario: string
}

/** Runs a scenario broken and then fixed, into two bundles, and gives both summaries. */
export const scenarioCommand = async (
  distDir: string,
  file: string | undefined,
  { scenario: name, preset, device, ranks, out, json }: ScenarioOptions,
): Promise<CommandResult> => {
  const scenario = scenarioNamed(name)
  if (scenario === undefined)
    throw badInput(`--scenario: there is no ${JSON.stringify(name)}; "dcpscope scenarios" lists them`)
  if (file !== undefined || preset !== undefined || ranks !== undefined)
    throw badInput(
      '--scenario: brings a configuration of its own; leave the configuration, --preset and --ranks out',
    )
  const { broken, fixed } = configsOf(scenario, device)
  const bundles = bundlesOf(scenario, out)
  const reports: { broken: RunReport; fixed?: RunReport } = {
    broken: await runInto(distDir, bundles.broken, broken),
  }
  if (reports.broken.exitCode !== EXIT.interrupted)
    reports.fixed = await runInto(distDir, bundles.fixed, fixed)
  const all = [reports.broken, ...(reports.fixed === undefined ? [] : [reports.fixed])]
  return {
    exitCode: worst(all.map(({ exitCode }) => exitCode)),
    stdout:
      json === true
        ? JSON.stringify({ broken: reports.broken.document, fixed: reports.fixed?.document })
        : [scenarioText(scenario), ...all.map(({ text }) => text)].join('\n\n'),
  }
}

/** As the scenario has it, or on the device that is asked for. */
const configsOf = (scenario: Scenario, device = 'auto'): { broken: RunConfig; fixed: RunConfig } => {
  if (device !== 'auto' && device !== 'cpu' && device !== 'cuda')
    throw badInput(`--device: must be auto, cpu or cuda, got ${JSON.stringify(device)}`)
  const { broken, fixed } = scenarioConfigs(scenario)
  const on = (config: RunConfig): RunConfig =>
    device === 'auto' ? config : { ...config, engine: { ...config.engine, device } }
  const missing = unsupported(on(broken))
  if (missing.length > 0) throw badInput(`--scenario ${scenario.name}: ${missing.map(issueText).join('; ')}`)
  return { broken: on(broken), fixed: on(fixed) }
}

const bundlesOf = (
  { name }: Scenario,
  out: string | undefined,
): { broken: BundleFolder; fixed: BundleFolder } => {
  if (out === undefined)
    return {
      broken: chooseBundle(undefined, `${name}-broken`),
      fixed: chooseBundle(undefined, `${name}-fixed`),
    }
  const folder = newFolder(out)
  const within = (part: string): BundleFolder => ({
    path: join(folder, `${part}.dcp`),
    name: `${name}, ${part}`,
  })
  return { broken: within('broken'), fixed: within('fixed') }
}

const worst = (codes: readonly ExitCode[]): ExitCode =>
  codes.includes(EXIT.interrupted) ? EXIT.interrupted : codes.includes(EXIT.no) ? EXIT.no : EXIT.fine
