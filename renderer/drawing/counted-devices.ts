import type { Manifest } from '../../app/trace/manifest.ts'

/** Devices of one kind together: `2 x NVIDIA H200` where ranks had GPUs of their own. */
export const countedDevices = (
  devices: Manifest['devices'],
): readonly { readonly name: string; readonly detail: string }[] => {
  const counts = new Map<string, { name: string; detail: string; count: number }>()
  for (const { name, detail } of devices) {
    const key = `${name}\n${detail}`
    counts.set(key, { name, detail, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].map(({ name, detail, count }) => ({
    name: count === 1 ? name : `${count} x ${name}`,
    detail,
  }))
}
