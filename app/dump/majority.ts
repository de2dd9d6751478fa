/** The most common of the values that are there, of equally common ones the first; undefined without any. */
export const mostCommon = <T, V extends string | number>(
  items: readonly T[],
  value: (item: T) => V | undefined,
): V | undefined => {
  const [one] = agreed(
    items.filter((item) => value(item) !== undefined),
    value,
    () => {},
  )
  return one === undefined ? undefined : value(one)
}

/**
 * Those of `items` whose value is the most common one, and those without a value; `odd` gets each of the others with the
 * common value and an item that has it. Of equally common values the first in `items` counts.
 */
export const agreed = <T, V extends string | number>(
  items: readonly T[],
  value: (item: T) => V | undefined,
  odd: (item: T, common: V, of: T) => void,
): T[] => {
  const counts = new Map<V, { count: number; first: T }>()
  for (const item of items) {
    const own = value(item)
    if (own === undefined) continue
    const { count, first } = counts.get(own) ?? { count: 0, first: item }
    counts.set(own, { count: count + 1, first })
  }
  let common: readonly [V, { count: number; first: T }] | undefined
  for (const entry of counts) if (common === undefined || entry[1].count > common[1].count) common = entry
  if (common === undefined) return [...items]
  const [most, { first }] = common
  return items.filter((item) => {
    const own = value(item)
    if (own === undefined || own === most) return true
    odd(item, most, first)
    return false
  })
}
