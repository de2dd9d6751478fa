/** Path of a field in the notation of every message: `workload.requests[0].contextLen`. */
export type ConfigPath = string

/** Keys and indices of a path, outermost first. */
export const pathParts = (path: ConfigPath): (string | number)[] =>
  [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) =>
    index === undefined ? (key ?? '') : Number(index),
  )

export const pathOf = (parts: readonly (string | number)[]): ConfigPath =>
  parts.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  )

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const child = (value: unknown, part: string | number): unknown =>
  Array.isArray(value) && typeof part === 'number'
    ? value[part]
    : isRecord(value) && Object.hasOwn(value, part)
      ? value[String(part)]
      : undefined

/** What stands at a path; undefined where nothing does. */
export const valueAt = (value: unknown, path: ConfigPath): unknown => pathParts(path).reduce(child, value)

const withChild = (value: unknown, [part, ...rest]: readonly (string | number)[], to: unknown): unknown => {
  if (part === undefined) return to
  const next = withChild(child(value, part), rest, to)
  if (typeof part === 'number') {
    const list: unknown[] = Array.isArray(value) ? [...value] : []
    list[part] = next
    return list
  }
  const entries = new Map(isRecord(value) ? Object.entries(value) : [])
  if (next === undefined) entries.delete(part)
  else entries.set(part, next)
  return Object.fromEntries(entries)
}

/** A copy of `value` with `to` at a path; undefined removes the key. Only the way to it is copied. */
export const withValueAt = (value: unknown, path: ConfigPath, to: unknown): unknown =>
  withChild(value, pathParts(path), to)

/** Whether `path` is `of` or lies below it. */
export const within = (path: ConfigPath, of: ConfigPath): boolean =>
  path === of || path.startsWith(`${of}.`) || path.startsWith(`${of}[`)
