import { EventEmitter } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { type Manifest, manifestSchema } from '../../../app/trace/manifest.ts'
import { bundlesIn } from '../../../main/desktop/bundles.ts'
import { openedDumps } from '../../../main/desktop/dumps.ts'
import { linkArguments, linksOfSystem, pathsOfSystem } from '../../../main/desktop/links.ts'
import { markInterrupted } from '../../../main/desktop/mark-interrupted.ts'
import { isBundle, pathArguments } from '../../../main/desktop/paths.ts'
import { visibleBounds, windowFile } from '../../../main/desktop/window-state.ts'
import { runIdOf } from '../../../main/process/run-id.ts'

let folder = ''
const complaints: string[] = []
const complain = (sentence: string): void => {
  complaints.push(sentence)
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-desktop-'))
  complaints.length = 0
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the state of the window', () => {
  it('come back after a restart', () => {
    const path = join(folder, 'deep', 'window.json')
    const bounds = { x: 10, y: 20, width: 1400, height: 900 }
    const first = windowFile(path, complain)
    first.set({ bounds })
    first.set({ theme: 'dark' })
    expect(windowFile(path, complain).get()).toEqual({ bounds, maximized: false, theme: 'dark' })
  })

  it.each([['{'], ['[]'], ['{"theme":"blue"}'], ['']])(
    'that are damaged count as the defaults: %s',
    (text) => {
      const path = join(folder, 'window.json')
      writeFileSync(path, text)
      expect(windowFile(path, complain).get()).toEqual({ maximized: false, theme: 'system' })
    },
  )

  it('that cannot be kept are kept for the session, with a complaint', () => {
    const file = windowFile(join(folder, 'a\0b'), complain)
    file.set({ theme: 'light' })
    expect(file.get().theme).toBe('light')
    expect(complaints).toHaveLength(1)
  })
})

describe('kept bounds', () => {
  const screen = { x: 0, y: 0, width: 1920, height: 1080 }
  it('are used while enough of the window can be seen', () => {
    const bounds = { x: 1600, y: 900, width: 1280, height: 800 }
    expect(visibleBounds(bounds, [screen])).toEqual(bounds)
  })
  it('are dropped when their screen is gone', () => {
    expect(visibleBounds({ x: 2000, y: 0, width: 1280, height: 800 }, [screen])).toBeUndefined()
    expect(visibleBounds({ x: 0, y: 1060, width: 1280, height: 800 }, [screen])).toBeUndefined()
    expect(visibleBounds(undefined, [screen])).toBeUndefined()
  })
})

describe('bundles by id', () => {
  it('are found in the runs folder and where they were opened, while they exist', async () => {
    const runs = join(folder, 'runs')
    const elsewhere = join(folder, 'b.dcp')
    for (const path of [join(runs, 'a.dcp'), elsewhere]) mkdirSync(path, { recursive: true })
    const bundles = bundlesIn(runs, join(folder, 'bundles.json'), complain)
    expect(await bundles.find(runIdOf(join(runs, 'a.dcp')))).toBe(join(runs, 'a.dcp'))
    expect(await bundles.find(runIdOf(elsewhere))).toBeUndefined()
    bundles.remember(elsewhere)
    expect(await bundles.find(runIdOf(elsewhere))).toBe(elsewhere)
    rmSync(elsewhere, { recursive: true })
    expect(await bundles.find(runIdOf(elsewhere))).toBeUndefined()
  })

  it('are nowhere when there is no runs folder yet', async () => {
    const bundles = bundlesIn(join(folder, 'none'), join(folder, 'bundles.json'), complain)
    expect(await bundles.find('x')).toBeUndefined()
    expect(bundles.elsewhere()).toEqual([])
  })

  it('from elsewhere are kept for the next start, the latest first, each once', () => {
    const runs = join(folder, 'runs')
    const path = join(folder, 'bundles.json')
    const [a, b, own] = [join(folder, 'a.dcp'), join(folder, 'b.dcp'), join(runs, 'own.dcp')]
    for (const made of [a, b, own]) mkdirSync(made, { recursive: true })
    const bundles = bundlesIn(runs, path, complain)
    for (const opened of [a, b, own, `${a}/`]) bundles.remember(opened)
    expect(bundles.elsewhere()).toEqual([a, b])
    expect(bundlesIn(runs, path, complain).elsewhere()).toEqual([a, b])
    rmSync(a, { recursive: true })
    expect(bundlesIn(runs, path, complain).elsewhere()).toEqual([b])
    writeFileSync(path, '[7]')
    expect(bundlesIn(runs, path, complain).elsewhere()).toEqual([])
    expect(complaints).toEqual([])
  })

  it('have the same id however the path is written', () => {
    expect(runIdOf('/runs/a.dcp/')).toBe(runIdOf('/runs/x/../a.dcp'))
    expect(runIdOf('/runs/a.dcp')).not.toContain('a.dcp')
  })
})

describe('marking a bundle interrupted', () => {
  const manifest = (status: Manifest['status']): Manifest => {
    const parsed = parseRunConfig({}, 'tiny')
    if (!parsed.ok) throw new Error('the tiny preset does not parse')
    return {
      format: 'dcpscope-run',
      formatVersion: 1,
      name: 'a',
      status,
      config: parsed.config,
      devices: [],
      versions: {},
      clock: { base: '2026-11-29T15:00:00.000Z', alignment: 'one clock', uncertaintyNs: 0 },
      createdAt: '2026-11-29T15:00:00.000Z',
      writer: { pid: 1, host: 'h' },
    }
  }
  const written = (): Manifest =>
    manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')))

  it('keeps the manifest and adds status, reason and end', () => {
    writeFileSync(join(folder, 'run.json'), JSON.stringify(manifest('running')))
    markInterrupted(folder, 'The store process was killed (signal 9).', complain)
    const { status, error, endedAt, writer, config } = written()
    expect({ status, error, writer }).toEqual({
      status: 'interrupted',
      error: 'The store process was killed (signal 9).',
      writer: undefined,
    })
    expect(endedAt).toMatch(/Z$/)
    expect(config).toEqual(manifest('running').config)
    expect(readdirSync(folder)).toEqual(['run.json'])
  })

  it('leaves a bundle alone whose run has ended', () => {
    writeFileSync(join(folder, 'run.json'), JSON.stringify(manifest('complete')))
    markInterrupted(folder, 'x', complain)
    expect(written().status).toBe('complete')
  })

  it.each([['{'], ['{}']])('leaves a manifest alone that it cannot read, with a complaint: %s', (text) => {
    writeFileSync(join(folder, 'run.json'), text)
    markInterrupted(folder, 'x', complain)
    expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(text)
    expect(complaints).toHaveLength(1)
  })
})

describe('opened dumps', () => {
  it('are kept, the latest first, each once, whatever the order of its files', () => {
    const path = join(folder, 'dumps.json')
    const first = openedDumps(path, complain)
    const a = first.remember(['/d/a/x.safetensors', '/d/a/y.safetensors'])
    first.remember(['/d/b'])
    expect(first.remember(['/d/a/y.safetensors', '/d/a/x.safetensors']).id).toBe(a.id)
    const again = openedDumps(path, complain)
    expect(again.list().map(({ name }) => name)).toEqual(['a (2 files or folders)', 'b'])
    again.forget(a.id)
    expect(openedDumps(path, complain).list()).toHaveLength(1)
    expect(complaints).toEqual([])
  })

  it.each([['{'], ['[[]]'], ['[["/a"], 7]']])('of a damaged list are none: %s', (text) => {
    const path = join(folder, 'dumps.json')
    writeFileSync(path, text)
    expect(openedDumps(path, complain).list()).toEqual([])
  })

  it('that cannot be kept are kept for the session, with a complaint', () => {
    const dumps = openedDumps(join(folder, 'a\0b'), complain)
    dumps.remember(['/d'])
    expect(dumps.list()).toHaveLength(1)
    expect(complaints).toHaveLength(1)
  })
})

it('paths of a command line are bundles, dumps and folders, not switches and not the app', () => {
  mkdirSync(join(folder, 'dump'))
  const argv = ['.', '--no-sandbox', 'dump', 'none.dcp', 'none.safetensors', 'nothing', '']
  expect(pathArguments(argv, folder, folder)).toEqual(
    ['dump', 'none.dcp', 'none.safetensors'].map((name) => join(folder, name)),
  )
  expect(isBundle(join(folder, 'dump'))).toBe(false)
  writeFileSync(join(folder, 'dump', 'run.json'), '{}')
  expect(isBundle(join(folder, 'dump'))).toBe(true)
})

it('links of a command line are of one bounded line, and no paths', () => {
  const links = ['dcpscope://open?view=merge', 'DCPSCOPE://open?view=run&name=a.dcp']
  const argv = [...links, 'a.dcp', '--x', 'dcpscope://a b', 'dcpscope://\n', `dcpscope://${'x'.repeat(4000)}`]
  expect(linkArguments(argv)).toEqual(links)
  expect(pathArguments(argv, folder, folder)).toEqual([join(folder, 'a.dcp')])
})

it('a link of the system that comes early waits for whoever listens', () => {
  const app = new EventEmitter()
  let prevented = 0
  const send = (url: string): void => {
    app.emit('open-url', { preventDefault: () => prevented++ }, url)
  }
  const onLink = linksOfSystem(app)
  send('dcpscope://open?view=merge')
  send('https://example.org')
  const got: string[] = []
  onLink((link) => got.push(link))
  send('dcpscope://open?view=run')
  expect(got).toEqual(['dcpscope://open?view=merge', 'dcpscope://open?view=run'])
  expect(prevented).toBe(3)

  const onPath = pathsOfSystem(app)
  const open = (path: string): boolean => app.emit('open-file', { preventDefault: () => prevented++ }, path)
  open('/runs/before the window.dcp')
  const paths: string[] = []
  onPath((path) => paths.push(path))
  open('/runs/a.dcp')
  expect(paths).toEqual(['/runs/before the window.dcp', '/runs/a.dcp'])
  expect(prevented).toBe(5)
})
