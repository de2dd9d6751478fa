const PREFIX = 'dcpscope.'

/** What was kept under `key`, null when there is nothing or it cannot be read. Comes from disk: check before use. */
export const load = (key: string): unknown => {
  try {
    const text = window.localStorage.getItem(PREFIX + key)
    return text === null ? null : JSON.parse(text)
  } catch {
    // Storage that is off or damaged means only that nothing was kept.
    return null
  }
}

/** Keeps a small value (JSON) for the next start. */
export const save = (key: string, value: unknown): void => {
  try {
    window.localStorage.setItem(PREFIX + key, JSON.stringify(value))
  } catch {
    // A full or forbidden storage costs the person a panel size, nothing more.
  }
}

/** A kept number within bounds, else `otherwise`. */
export const loadNumber = (key: string, otherwise: number, min: number, max: number): number => {
  const value = load(key)
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : otherwise
}
