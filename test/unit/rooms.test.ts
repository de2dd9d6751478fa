import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(__dirname, '..', '..')

const REFUSED: readonly (readonly [string, string])[] = [
  ['app/dcp/a.ts', '../../main/process/port.ts'],
  ['app/dcp/b.ts', '../../renderer/state/selection.ts'],
  ['app/c.ts', '../test/unit/helper.ts'],
  ['app/run/d.ts', 'node:fs'],
  ['app/run/e.ts', 'electron'],
  ['app/run/f.ts', 'react'],
  ['main/store/g.ts', '../../renderer/drawing/format.ts'],
  ['main/cli/h.ts', '../../test/unit/helper.ts'],
  ['main/cli/i.ts', 'react'],
  ['renderer/views/run/j.ts', '../../../main/store/store.ts'],
  ['renderer/state/k.ts', '../../native/x.ts'],
  ['renderer/state/l.ts', 'node:path'],
  ['renderer/state/m.ts', 'electron'],
  ['renderer/state/n.ts', '@duckdb/node-api'],
]

const ALLOWED: readonly (readonly [string, string])[] = [
  ['app/lse/o.ts', '../dcp/ownership.ts'],
  ['app/run/p.ts', 'zod'],
  ['main/store/q.ts', '../../app/trace/tables.ts'],
  ['main/store/r.ts', 'node:fs'],
  ['renderer/state/s.ts', '../../app/protocol/store.ts'],
  ['test/unit/t.ts', '../../main/store/store.ts'],
]

/** Plants the imports in an empty tree under the project's own rules; gives the files that the linter refuses. */
const refusedFiles = (planted: readonly (readonly [string, string])[]): string[] => {
  const tree = mkdtempSync(join(tmpdir(), 'dcpscope-rooms-'))
  try {
    const rules: unknown = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'))
    writeFileSync(join(tree, 'biome.json'), JSON.stringify({ ...Object(rules), vcs: { enabled: false } }))
    for (const [path, target] of planted) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), `import { x } from '${target}'\n\nexport const y = x\n`)
    }
    const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
    const done = spawnSync(process.execPath, [biome, 'lint', '--diagnostic-level=error'], {
      cwd: tree,
      encoding: 'utf8',
    })
    const reports = `${done.stdout}${done.stderr}`.matchAll(
      /^(\S+):\d+:\d+ lint\/style\/noRestrictedImports/gm,
    )
    return [...reports].map(([, path = '']) => path).sort()
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

describe('the import rules between the rooms', () => {
  it('refuse every import that the table of rooms forbids, and no other', () => {
    expect(refusedFiles([...REFUSED, ...ALLOWED])).toEqual(REFUSED.map(([path]) => path).sort())
  })

  it('are also the references of the TypeScript projects', () => {
    const references = (room: string): string[] => {
      const config: unknown = JSON.parse(readFileSync(join(ROOT, room, 'tsconfig.json'), 'utf8'))
      if (typeof config !== 'object' || config === null || !('references' in config)) return []
      return Array.isArray(config.references) ? config.references.map((r: { path: string }) => r.path) : []
    }
    expect(references('app')).toEqual([])
    expect(references('main')).toEqual(['../app'])
    expect(references('renderer')).toEqual(['../app'])
  })

  it('hold for files that exist: app imports nothing but itself and zod', () => {
    const files = readdirSync(join(ROOT, 'app'), { recursive: true, encoding: 'utf8' }).filter((f) =>
      f.endsWith('.ts'),
    )
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) {
      const imports = readFileSync(join(ROOT, 'app', file), 'utf8').matchAll(/from '([^']+)'/g)
      for (const [, target = ''] of imports)
        expect(target.startsWith('.') || target === 'zod', `${file}: ${target}`).toBe(true)
    }
  })
})
