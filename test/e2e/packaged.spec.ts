import { dirname, join } from 'node:path'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { runDefault } from './desk.ts'
import { expect, test } from './fixture.ts'

/** Characters of the wire of fuses. */
const [OFF, ON] = [48, 49]

const PROGRAM = process.env.DCPSCOPE_E2E_APP

test.skip(PROGRAM === undefined, 'only of the packaged app: npm run e2e -- --packaged')

test('the packaged program runs nothing but its own archive', async ({ desk: { app, page } }) => {
  // The one that is shipped lies beside the one that a debugger may attach to.
  const wire = await getCurrentFuseWire(join(dirname(PROGRAM ?? ''), 'dcpscope'))
  for (const fuse of [
    FuseV1Options.RunAsNode,
    FuseV1Options.EnableNodeOptionsEnvironmentVariable,
    FuseV1Options.EnableNodeCliInspectArguments,
  ])
    expect(wire[fuse], FuseV1Options[fuse]).toBe(OFF)
  expect(wire[FuseV1Options.OnlyLoadAppFromAsar]).toBe(ON)
  expect(await app.evaluate(({ app: self }) => [self.isPackaged, self.getName()])).toEqual([true, 'dcpscope'])
  expect(await app.evaluate(({ app: self }) => self.getAppPath())).toMatch(/resources.app\.asar$/)
  // Engine, store and their libraries are found outside of the archive.
  await runDefault(page)
})
