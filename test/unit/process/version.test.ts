import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERSION } from '../../../main/process/version.ts'

it('the version of the product is that of its package', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8')).version).toBe(VERSION)
})
