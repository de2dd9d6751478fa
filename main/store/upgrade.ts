/**
 * Upgraders of `run.json`: entry n turns a manifest of format version n into one of n + 1. docs/format.md keeps the
 * changelog.
 */
export type Upgrader = (manifest: Record<string, unknown>) => Record<string, unknown>

export const UPGRADERS: ReadonlyMap<number, Upgrader> = new Map([
  // Version 2 only adds what may be left out.
  [1, (manifest) => manifest],
  // And so does version 3.
  [2, (manifest) => manifest],
  // And version 4.
  [3, (manifest) => manifest],
  // And version 5.
  [4, (manifest) => manifest],
])

export const upgraded = (
  manifest: Record<string, unknown>,
  from: number,
  to: number,
  upgraders: ReadonlyMap<number, Upgrader> = UPGRADERS,
): Record<string, unknown> => {
  let current = manifest
  for (let version = from; version < to; version++) {
    const upgrade = upgraders.get(version)
    if (upgrade === undefined) throw new Error(`no upgrader from format version ${version}`)
    current = { ...upgrade(current), formatVersion: version + 1 }
  }
  return current
}
