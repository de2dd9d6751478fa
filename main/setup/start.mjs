// @ts-check
import { buildAll } from './build-steps.mjs'
import { hasDisplay } from './display.mjs'
import { plainArguments, runScript, say } from './report.mjs'
import { runForeground } from './shell.mjs'
import { openWindow } from './window.mjs'

const HELP = `
npm start [-- ARGUMENTS]
Does all set-up, then opens the window. Without a display it runs the default decode run instead, prints its
summary and says where the bundle is. ARGUMENTS go to the app, or to "run" without a display
(see: node dist/cli.js run --help).`

runScript(async () => {
  const args = process.argv.slice(2)
  plainArguments(HELP, args, true)
  await buildAll()
  if (hasDisplay()) return openWindow(args)
  say('no display here: running the default decode run headless')
  const code = await runForeground(process.execPath, ['dist/cli.js', 'run', ...args])
  if (code === 0)
    say(
      'to look at it, ask in SQL as in: node dist/cli.js query BUNDLE "SELECT stage, count(*) FROM spans GROUP BY stage"\n' +
        '  or copy the bundle to a machine with a display, run npm start there and open it (Ctrl+O)',
    )
  return code
})
