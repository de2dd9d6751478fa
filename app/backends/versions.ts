/**
 * Versions as packages write them: `0.6.17`, `v0.6.17rc1`, `0.6.17.dev20260801`, `0.6.17+cu130`. What comes before a
 * release (dev, a, b, rc) is older than it; a build after `+`, or a post release, is not.
 */
const parsed = (version: string): { numbers: number[]; before: boolean } | null => {
  const match = /^v?(\d+(?:\.\d+)*)[.\-_]?((?:a|b|c|rc|alpha|beta|dev|nightly|pre)\d*)?.*$/i.exec(
    version.trim(),
  )
  if (match?.[1] === undefined) return null
  return { numbers: match[1].split('.').map(Number), before: match[2] !== undefined }
}

export const isReadable = (version: string): boolean => parsed(version) !== null

/** Whether `version` is older than the release `least`; a version that cannot be read is not known to be. */
export const isOlder = (version: string, least: string): boolean => {
  const [a, b] = [parsed(version), parsed(least)]
  if (a === null || b === null) return false
  for (let i = 0; i < Math.max(a.numbers.length, b.numbers.length); i++) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return a.before && !b.before
}
