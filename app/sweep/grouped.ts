export type Some<T> = [T, ...T[]]

/** Values by what they have in common, in the order in which they come. */
export const grouped = <K, T>(values: readonly T[], key: (value: T) => K): Map<K, Some<T>> => {
  const groups = new Map<K, Some<T>>()
  for (const value of values) {
    const name = key(value)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [value])
    else group.push(value)
  }
  return groups
}
