import { Command, CommanderError } from 'commander'
import { BACKEND_NAMES } from '../../app/backends/index.ts'
import { PRESET_NAMES } from '../../app/run/config.ts'
import { TABLES } from '../../app/trace/tables.ts'
import { VERSION } from '../process/version.ts'
import RECORDER from '../recorder/dcpscope_recorder.py?raw'
import { type CheckOptions, checkCommand } from './check-command.ts'
import { type CompareOptions, compareCommand } from './compare-command.ts'
import { type DiagnoseCommandOptions, diagnoseCommand } from './diagnose-command.ts'
import { doctorText, examine } from './doctor-command.ts'
import { type DumpOptions, dumpCommand } from './dump-command.ts'
import { dumpInfoCommand } from './dump-info-command.ts'
import { CliFailure, EXIT, type ExitCode, messageOf } from './failure.ts'
import { type LayoutOptions, layoutCommand } from './layout-command.ts'
import { QUERY_ROWS, queryCommand } from './query-command.ts'
import { type RunOptions, runCommand } from './run-command.ts'
import { scenarioCommand } from './scenario-command.ts'
import { scenariosCommand } from './scenarios-command.ts'
import { type SweepOptions, sweepCommand } from './sweep-command.ts'
import { printable } from './text-table.ts'

const EXIT_CODES = `
Exit codes:
  0    fine
  1    the answer is "no": the check of a run failed, a serving back-end refuses, a dump is not whole or shows a
       fault, numbers of two runs diverge, or this machine has no engine
  2    bad usage or bad input; one line on stderr, nothing written
  3    the device or the engine failed
  130  ended by Ctrl-C`

/** A reader that goes away (\`| head\`) is no failure; an answer that cannot be written otherwise is one. */
const watchOutput = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    complain(`the output could not be written: ${error.message}`)
    process.exit(EXIT.engineFailed)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    // There is no place left to say it.
    if (error.code !== 'EPIPE') process.exit(process.exitCode ?? EXIT.engineFailed)
  })
}

const print = (text: string): void => {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

const complain = (message: string): void => {
  process.stderr.write(`dcpscope: ${printable(shortened(message.replaceAll(/\s*\n\s*/g, ' ')))}\n`)
}

const MAX_MESSAGE = 4000

/** Thousands of faults are not read by anybody. */
const shortened = (message: string): string =>
  message.length > MAX_MESSAGE
    ? `${message.slice(0, MAX_MESSAGE)}... (${message.length - MAX_MESSAGE} more characters)`
    : message

const program = (finish: (code: ExitCode) => void): Command => {
  const root = new Command('dcpscope')
    .description('Profiler and visualiser for decode context parallelism in LLM serving.')
    .version(VERSION)
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .configureOutput({ outputError: (text) => complain(text.replace(/^error: /, '').trim()) })

  root
    .command('run')
    .description('Run a decode configuration on the engine, record it as a bundle, print its summary.')
    .argument('[config]', 'JSON file with the run configuration, - for standard input')
    .option(
      '--preset <name>',
      `preset below the configuration: ${PRESET_NAMES.join(', ')} (tiny when no configuration is given)`,
    )
    .option(
      '--scenario <name>',
      'a known failure instead: run broken and fixed (`dcpscope scenarios` lists them)',
    )
    .option('--device <device>', 'auto, cpu or cuda; in place of engine.device')
    .option('--ranks <how>', 'threads or processes; in place of engine.ranks')
    .option('--out <dir>', 'bundle folder, new or empty (default: one in the runs folder of the user)')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', RUN_HELP)
    .action(
      async (config: string | undefined, { scenario, ...options }: RunOptions & { scenario?: string }) => {
        const { exitCode, stdout } =
          scenario === undefined
            ? await runCommand(__dirname, config, options)
            : await scenarioCommand(__dirname, config, { scenario, ...options })
        if (stdout !== '') print(stdout)
        finish(exitCode)
      },
    )

  root
    .command('sweep')
    .description(
      'Measure throughput over context, concurrency, dcp size and transport, with the tp baseline.',
    )
    .argument('[config]', 'JSON file with the configuration of the sweep, - for standard input')
    .option(
      '--preset <name>',
      `sweep below the configuration: ${PRESET_NAMES.join(', ')} (tiny when no configuration is given)`,
    )
    .option('--device <device>', 'auto, cpu or cuda; in place of base.engine.device')
    .option('--out <dir>', 'bundle folder: new, empty, or of this sweep, which then goes on')
    .option('--max-minutes <minutes>', 'begin no point that would probably end later')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', SWEEP_HELP)
    .action(async (config: string | undefined, options: SweepOptions) => {
      const { exitCode, stdout, complaint } = await sweepCommand(__dirname, config, options)
      print(stdout)
      if (complaint !== undefined) complain(complaint)
      finish(exitCode)
    })

  root
    .command('check')
    .description('Say what a serving back-end accepts, refuses or replaces of a configuration.')
    .argument('<config>', 'JSON file with the run configuration, - for standard input')
    .option('--backend <name>', 'back-end, in place of serving.backend (native when none is named)')
    .option('--preset <name>', `preset below the configuration: ${PRESET_NAMES.join(', ')}`)
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', CHECK_HELP)
    .action(async (config: string, options: CheckOptions) => {
      const { exitCode, stdout } = await checkCommand(config, options)
      print(stdout)
      finish(exitCode)
    })

  root
    .command('layout')
    .description('Show how the tokens of one request lie on the ranks.')
    .requiredOption('--len <tokens>', 'global length of the request')
    .requiredOption('--dcp <ranks>', 'dcp size')
    .option('--interleave <tokens>', 'consecutive tokens that go to one rank', '1')
    .option('--page <tokens>', 'tokens of one physical page', '64')
    .option('--token <index>', 'also locate this token')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText(
      'after',
      '\nExample:\n  dcpscope layout --len 100 --dcp 4 --interleave 64 --page 64 --token 70',
    )
    .action((options: LayoutOptions) => {
      print(layoutCommand(options))
    })

  root
    .command('query')
    .description(`Ask a bundle in SQL: tables ${Object.keys(TABLES).join(', ')}.`)
    .argument('<bundle>', 'bundle folder of a run')
    .argument('<sql>', 'one SELECT')
    .option('--format <format>', 'table, json or csv', 'table')
    .addHelpText('after', QUERY_HELP)
    .action(async (bundle: string, sql: string, { format }: { format: string }) => {
      const { stdout, truncated } = await queryCommand(bundle, sql, format)
      print(stdout)
      if (truncated) complain(`only the first ${QUERY_ROWS} rows are shown`)
    })

  root
    .command('compare')
    .description('Say what differs between two runs or two dumps: configuration, numbers, times.')
    .argument('<a>', 'bundle of a run, or file or folder of a tensor dump')
    .argument('<b>', 'the other')
    .option(
      '--repeats <bundles...>',
      'more runs of either configuration, which say what differs from run to run',
    )
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', COMPARE_HELP)
    .action(async (a: string, b: string, options: CompareOptions) => {
      const { stdout, exitCode } = await compareCommand(a, b, options)
      print(stdout)
      finish(exitCode)
    })

  root
    .command('dump')
    .description('Write captured tensors of a run as a tensor dump, a file for each step, layer and rank.')
    .argument('<bundle>', 'bundle folder of a run')
    .requiredOption('--out <dir>', 'folder for the files, new or empty')
    .option('--steps <steps>', 'only these steps, such as 0,4-7')
    .option('--layers <layers>', 'only these layers')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', DUMP_HELP)
    .action(async (bundle: string, options: DumpOptions) => {
      const { stdout, exitCode } = await dumpCommand(bundle, options)
      print(stdout)
      finish(exitCode)
    })

  root
    .command('dump-info')
    .description('Say what is in tensor dumps, what they can answer, and what is wrong with them.')
    .argument('<files...>', 'dump files, folders with such files, or bundles of runs')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', DUMP_INFO_HELP)
    .action(async (files: string[], options: { json?: boolean }) => {
      const { stdout, exitCode } = await dumpInfoCommand(files, options)
      print(stdout)
      finish(exitCode)
    })

  root
    .command('scenarios')
    .description('List the library of known failures, which run --scenario reproduces.')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', SCENARIOS_HELP)
    .action(({ json }: { json?: boolean }) => {
      print(scenariosCommand(json === true))
    })

  root
    .command('diagnose')
    .description('Name the cause of a bad output from dump files, folders or bundles.')
    .argument('<path...>', 'files, folders or bundles')
    .option('--all-rows', 'look closely at every query row, not at a sample')
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText('after', DIAGNOSE_HELP)
    .action(async (paths: string[], options: DiagnoseCommandOptions) => {
      const { stdout, exitCode } = await diagnoseCommand(__dirname, paths, options)
      print(stdout)
      finish(exitCode)
    })

  root
    .command('recorder')
    .description('Print the recorder of tensor dumps for serving engines, one Python file.')
    .addHelpText('after', RECORDER_HELP)
    .action(() => {
      print(RECORDER)
    })

  root
    .command('doctor')
    .description('Say what this machine can do, and what is missing.')
    .option('--json', 'print one JSON document and nothing else')
    .action(async ({ json }: { json?: boolean }) => {
      const report = await examine(__dirname)
      print(json === true ? JSON.stringify(report) : doctorText(report))
      finish(report.engines.cpu.available ? EXIT.fine : EXIT.no)
    })

  return root
}

const RUN_HELP = `
Examples:
  dcpscope run                          the tiny preset
  dcpscope run --preset deepseek-v2-lite --out /tmp/lite.dcp
  echo '{"parallel":{"dcpSize":2}}' | dcpscope run - --json
  dcpscope run --scenario coverage-gap --out DIR

With --scenario a known failure runs broken into DIR/broken.dcp and fixed into DIR/fixed.dcp, and --json prints
{"broken":{...},"fixed":{...}}.

With --ranks processes every rank is a process: started here, or by torchrun, srun or mpirun, when this command runs once
for each rank, the first one writes the bundle, and MASTER_ADDR and MASTER_PORT say where it listens.

Ctrl-C ends the run cleanly: the step in progress is dropped, what was recorded is kept. A second Ctrl-C kills it.
The exit code is 1 when the check against the reference failed.`

const SWEEP_HELP = `
Examples:
  dcpscope sweep --out tiny.dcp                                     the tiny sweep
  dcpscope sweep --preset deepseek-v3 --out v3.dcp --max-minutes 9  one slice of a long one
  dcpscope sweep --out v3.dcp --max-minutes 9                       the next slice

Ctrl-C ends the sweep cleanly: the point in progress is dropped, all others are kept. A second Ctrl-C kills it. The same
--out goes on where a sweep ended, however it did. The exit code is 3 when the engine failed in a point.`

const CHECK_HELP = `
Examples:
  dcpscope check CONFIG.json                                     the back-end that the configuration names
  echo '{"workload":{"qLen":4}}' | dcpscope check - --backend ${BACKEND_NAMES[1]} --json

The back-ends: ${BACKEND_NAMES.join(', ')}.
The exit code is 0 when all is accepted or has a fallback, which names what is lost, and 1 when something is refused.`

const QUERY_HELP = `
Example:
  dcpscope query RUN.dcp "select stage, avg(dur_ns) from spans group by stage"`

const COMPARE_HELP = `
Examples:
  dcpscope compare BEFORE.dcp AFTER.dcp
  dcpscope compare BEFORE.dcp AFTER.dcp --repeats BEFORE-2.dcp BEFORE-3.dcp AFTER-2.dcp AFTER-3.dcp
  dcpscope compare dump-of-one dump-of-other --json

A time counts as changed where Wilcoxon's signed-rank test of the same steps of both says so, corrected for the number of
rows; it takes the differences of pieces of steps for independent. Steps of one run are no repeats of it: --repeats counts
every run once, by its medians, and compares both sides by Welch's test. The exit code is 1 when numbers diverge by more than
rounding explains, whatever the times do.`

const DUMP_HELP = `
Example:
  dcpscope dump RUN.dcp --steps 4 --layers 0 --out dump

Runs capture what capture.steps and capture.layers of their configuration name.`

const DUMP_INFO_HELP = `
Examples:
  dcpscope dump-info rank0.safetensors rank1.safetensors
  dcpscope dump-info dump RUN.dcp --json

The exit code is 1 when something is wrong: a file that cannot be used, or a rank that is missing. The rest is listed.`

const DIAGNOSE_HELP = `
Examples:
  dcpscope diagnose rank0.safetensors rank1.safetensors
  dcpscope diagnose RUN.dcp dump --json

What tensors are not there is not checked, and said. The exit code is 0 when all that could be checked is healthy, and 1 when
a fault was found or nothing decides.`

const SCENARIOS_HELP = `
Example:
  dcpscope run --scenario lse-base-mismatch --out DIR      DIR/broken.dcp and DIR/fixed.dcp`

const RECORDER_HELP = `
Example:
  dcpscope recorder > dcpscope_recorder.py

Its first lines say how an engine calls it. It needs torch alone.`

const main = async (): Promise<void> => {
  watchOutput()
  try {
    await program((code) => {
      process.exitCode = code
    }).parseAsync()
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

const exitCodeOf = (error: unknown): ExitCode => {
  if (error instanceof CommanderError) {
    // Commander has printed help, version or its complaint by now.
    return error.exitCode === 0 ? EXIT.fine : EXIT.badInput
  }
  complain(messageOf(error))
  return error instanceof CliFailure ? error.exitCode : EXIT.engineFailed
}

main()
