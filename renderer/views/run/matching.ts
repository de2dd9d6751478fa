import type { RunRef } from '../../../app/protocol/store.ts'

/** Runs that have every word in their name, configuration or status. */
export const matching = (runs: readonly RunRef[], words: string): readonly RunRef[] => {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return runs.filter(({ name, title, status }) => {
    const text = `${name} ${title} ${status}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}
