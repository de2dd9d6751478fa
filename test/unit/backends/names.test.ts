import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROFILES } from '../../../app/backends/index.ts'

const ROOT = join(__dirname, '..', '..', '..')

const sources = ['app', 'main', 'renderer', 'native'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|mts|mjs|cpp|h|cu|cuh)$/.test(file))
    .map((file) => join(room, file)),
)

it('no source but the file of a profile, the list of all and scenarios knows a profile by name', () => {
  const names = PROFILES.filter(({ framework }) => framework !== 'dcpscope').map(({ name }) => name)
  const own = new Set([
    ...names.map((name) => join('app', 'backends', `${name}.ts`)),
    join('app', 'backends', 'index.ts'),
  ])
  const knowing = sources
    // A scenario is a configuration, and names its back-end as users do.
    .filter((file) => !own.has(file) && !file.startsWith(join('app', 'scenarios')))
    .filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8')
      return names.some((name) => new RegExp(`['"\`/ ]${name}(?![\\w-])`).test(text))
    })
  expect(sources.length).toBeGreaterThan(100)
  expect(knowing).toEqual([])
})
