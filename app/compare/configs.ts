import type { RunConfig } from '../run/config.ts'
import { caveatOf } from '../trace/caveat.ts'
import type { Manifest } from '../trace/manifest.ts'

/**
 * What kind of difference it is: in the work that is done, in how it is done, in where, or only in what is watched of it. The
 * first and the third make times unlike, the first also numbers.
 */
export const DIFFERENCE_KINDS = ['work', 'way', 'place', 'watch'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

export interface ConfigDifference {
  readonly kind: DifferenceKind
  /** Path of the field in the configuration, a field of the manifest, or a key of the metadata of a dump. */
  readonly path: string
  /** As JSON, without quotes around words; null where it says nothing. */
  readonly a: string | null
  readonly b: string | null
}

/** Fields that are no work although they stand beside it, and the other way round. */
const KINDS: readonly (readonly [pattern: RegExp, kind: DifferenceKind])[] = [
  [/^(check|capture)\.|^engine\.(observer|kernelTrace)$|^workload\.(steps|warmup)$/, 'watch'],
  [/^(model|workload)\./, 'work'],
  [/^engine\.(device|ranks)$|^(device|host|caveat|versions\..*)$/, 'place'],
  [/./, 'way'],
]

const kindOf = (path: string): DifferenceKind => KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? 'way'

/** What differs between the configurations of two runs, the devices and versions; what matters most first. */
export const runDifferences = (a: Manifest, b: Manifest): ConfigDifference[] =>
  differences(fieldsOfRun(a), fieldsOfRun(b), kindOf)

const fieldsOfRun = (manifest: Manifest): ReadonlyMap<string, string> =>
  new Map([
    ...configFields(manifest.config),
    ...deviceFields(manifest),
    ...Object.entries(manifest.versions).map(([name, version]): [string, string] => [
      `versions.${name}`,
      version,
    ]),
  ])

const deviceFields = (manifest: Manifest): [string, string][] => {
  const caveat = caveatOf(manifest)
  const hosts = [...new Set(manifest.processes?.map(({ host }) => host) ?? [])]
  return [
    ['device', manifest.devices.map(({ name }) => name).join(', ')],
    ...(hosts.length === 0 ? [] : [['host', hosts.join(', ')] as [string, string]]),
    ...(caveat === undefined ? [] : [['caveat', caveat.source] as [string, string]]),
  ]
}

/** Leaves of the configuration by path; lists are one leaf. The preset is only a name for other fields. */
const configFields = (config: RunConfig): [string, string][] => leaves('', config)

const leaves = (path: string, value: unknown): [string, string][] => {
  if (path === 'model.preset') return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, textOf(value)]]
  return Object.entries(value).flatMap(([key, part]) => leaves(path === '' ? key : `${path}.${key}`, part))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Keys of a dump's metadata that say which file it is. */
const PLACES_IN_DUMP = ['format', 'rank', 'step', 'layer', 'branch', 'graph_batch']
const WORK_OF_DUMP = /^(num_heads|kv_lora_rank|rope_dim|num_kv_heads|head_dim|q_len|softmax_scale)$/
const kindInDump = (key: string): DifferenceKind =>
  WORK_OF_DUMP.test(key) ? 'work' : key === 'engine' ? 'place' : key === 'max_len' ? 'watch' : 'way'

/** What differs between the metadata of a file of each of two dumps. */
export const dumpDifferences = (
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
): ConfigDifference[] => {
  const kept = (metadata: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...metadata].filter(([key]) => !PLACES_IN_DUMP.includes(key)))
  return differences(kept(a), kept(b), kindInDump)
}

const differences = (
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
  kind: (path: string) => DifferenceKind,
): ConfigDifference[] =>
  [...new Set([...a.keys(), ...b.keys()])]
    .flatMap((path) => {
      const [ofA, ofB] = [a.get(path) ?? null, b.get(path) ?? null]
      return ofA === ofB ? [] : [{ kind: kind(path), path, a: ofA, b: ofB }]
    })
    .sort((x, y) => DIFFERENCE_KINDS.indexOf(x.kind) - DIFFERENCE_KINDS.indexOf(y.kind))

const listed = (differing: readonly ConfigDifference[], kind: DifferenceKind): string =>
  differing
    .filter((difference) => difference.kind === kind)
    .map(({ path }) => path)
    .join(', ')

/** Sentences that say why two things are unlike, so that nobody compares what cannot be compared; none where they are alike. */
export const unlikeness = (differing: readonly ConfigDifference[]): string[] => {
  const [work, place] = [listed(differing, 'work'), listed(differing, 'place')]
  return [
    ...(work === ''
      ? []
      : [`They do not do the same work (${work}): times and numbers differ for that alone.`]),
    ...(place === ''
      ? []
      : [
          `They were not made in the same place (${place}): what of the times is due to that is not told apart.`,
        ]),
  ]
}
