import { expect, it } from 'vitest'
import { isOlder, isReadable } from '../../../app/backends/versions.ts'

it.each([
  ['0.6.16', true],
  ['0.6.9', true],
  ['v0.6.16.post1', true],
  ['0.6', true],
  ['0.6.17rc1', true],
  ['0.6.17.dev20260801', true],
  ['0.6.17a0', true],
  ['0.6.17', false],
  ['0.6.17.0', false],
  ['0.6.17+cu130', false],
  ['0.6.17.post1', false],
  ['0.6.100', false],
  ['1.0', false],
  ['0.7.0rc1', false],
  ['main', false],
  ['', false],
])('%s is older than 0.6.17: %s', (version, older) => {
  expect(isOlder(version, '0.6.17')).toBe(older)
})

it.each([
  ['0.1.8', true],
  ['v2', true],
  ['main', false],
  ['', false],
])('%s can be read: %s', (version, readable) => {
  expect(isReadable(version)).toBe(readable)
})
