import { expect, test } from 'vitest'
import { GLOSSARY, TERMS, type Term, termNamed } from '../../../app/help/glossary.ts'

const all: readonly Term[] = Object.values(GLOSSARY)

test('every way to write a term means one term', () => {
  const names = all.flatMap(({ name, also }) => [name, ...(also ?? [])])
  expect(new Set(names).size).toBe(names.length)
  for (const term of all) expect(termNamed(term.name)).toBe(term)
})

test('a label is explained exactly as the window writes it, and others are not', () => {
  expect(termNamed('page size')).toBe(GLOSSARY.page)
  expect(termNamed('lse merged')).toBe(GLOSSARY.lse)
  expect(termNamed('name')).toBeUndefined()
  expect(termNamed('constructor')).toBeUndefined()
})

test('the terms of the field are there, each in sentences, by name', () => {
  const names = TERMS.map(({ name }) => name)
  for (const name of [
    'rank',
    'dcp size',
    'interleave',
    'page',
    'slot',
    'local length',
    'partial',
    'LSE',
    'base',
    'merge',
    'q_len',
  ])
    expect(names).toContain(name)
  expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')))
  for (const { text } of TERMS) expect(text).toMatch(/^[A-Z1].*\.$/)
})
