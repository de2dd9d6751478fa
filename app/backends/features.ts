import type { RunConfigInput } from '../run/config.ts'
import type { Rule } from './guard.ts'
import { holdsPage } from './guard.ts'
import type { Pages, Profile, Transport } from './profile.ts'

/** Something that a configuration can ask of a back-end: what it changes of one that the back-end accepts. */
export interface Feature {
  readonly id: string
  readonly title: string
  /** Rule that speaks of it as a rule. */
  readonly rule: Rule
  /** The changed configuration; null where the back-end has nothing of the kind. */
  readonly change: (base: RunConfigInput, profile: Profile) => RunConfigInput | null
}

export interface FeatureGroup {
  readonly title: string
  readonly features: readonly Feature[]
}

const firstPage = (pages: Pages): number => [64, 32, 128, 16].find((page) => holdsPage(pages, page)) ?? 64

/** A decode with DCP that a back-end accepts: 4 ranks of 8, 16 heads each, so that a kernel sees 64. */
export const acceptedBy = ({ name, semantics }: Profile): RunConfigInput => {
  const { attention, pages, kvTypes, transports, interleave, archs } = semantics
  const page = firstPage(pages)
  return {
    model: { heads: 128, ...(attention === 'gqa' ? { kvHeads: 2, headDim: 128 } : {}) },
    parallel: {
      tpSize: 8,
      dcpSize: 4,
      interleave: interleave === 'page' ? page : 1,
      comm: transports[0] ?? 'ag_rs',
    },
    cache: { pageSize: page, kvDtype: kvTypes.find((type) => type === 'fp8') ?? kvTypes[0] ?? 'bf16' },
    workload: { requests: [{ contextLen: 4096 }], ...(attention === 'sparse mla' ? { topk: 2048 } : {}) },
    serving: { backend: name, arch: archs.at(-1) },
  }
}

type Part = Exclude<keyof RunConfigInput, 'faults'>

/** Changes fields of one part. */
const set =
  (part: Part, fields: Readonly<Record<string, unknown>>): Feature['change'] =>
  (base) => ({ ...base, [part]: { ...base[part], ...fields } })

const all =
  (...changes: readonly Feature['change'][]): Feature['change'] =>
  (base, profile) =>
    changes.reduce<RunConfigInput | null>((now, change) => (now === null ? null : change(now, profile)), base)

/** A page, with the interleave that goes with it where whole pages are dealt out. */
const page =
  (pageSize: number): Feature['change'] =>
  (base, profile) =>
    all(
      set('cache', { pageSize }),
      set('parallel', profile.semantics.interleave === 'page' ? { interleave: pageSize } : {}),
    )(base, profile)

const wholePages: Feature['change'] = (base, profile) =>
  set('parallel', { interleave: base.cache?.pageSize ?? 64 })(base, profile)

/** A kernel, for back-ends that have a choice of it. */
const kernel =
  (name: string): Feature['change'] =>
  (base, profile) =>
    profile.kernels.length > 1 && profile.kernels.includes(name)
      ? set('serving', { kernel: name })(base, profile)
      : null

const sizes = (heads: number, tpSize: number, dcpSize: number): Feature['change'] =>
  all(set('model', { heads }), set('parallel', { tpSize, dcpSize }))

const TRANSPORTS: readonly Transport[] = ['ag_rs', 'a2a', 'p2p']

export const FEATURE_GROUPS: readonly FeatureGroup[] = [
  {
    title: 'Queries',
    features: [
      { id: 'decode', title: 'One query token, DCP 4', rule: 'q-len', change: (base) => base },
      { id: 'no-dcp', title: 'The same without DCP', rule: 'q-len', change: set('parallel', { dcpSize: 1 }) },
      { id: 'q-2', title: '2 query tokens', rule: 'q-len', change: set('workload', { qLen: 2 }) },
      { id: 'q-8', title: '8 query tokens', rule: 'q-len', change: set('workload', { qLen: 8 }) },
      {
        id: 'q-2-interleave',
        title: '2 at interleave 16',
        rule: 'q-len',
        change: all(set('workload', { qLen: 2 }), set('parallel', { interleave: 16 })),
      },
      {
        id: 'q-uneven',
        title: 'Uneven: 1 and 2 tokens',
        rule: 'q-len',
        change: all(set('workload', { qLen: 2 }), set('serving', { queryLens: [1, 2] })),
      },
      {
        id: 'bound-global',
        title: 'Global causal bound passed',
        rule: 'causal-bound',
        change: set('serving', { causalBound: 'global' }),
      },
      {
        id: 'bound-local',
        title: 'Local causal bound passed',
        rule: 'causal-bound',
        change: set('serving', { causalBound: 'local' }),
      },
      {
        id: 'no-lse',
        title: 'lse not asked for',
        rule: 'return-lse',
        change: set('serving', { returnLse: false }),
      },
      {
        id: 'non-causal',
        title: 'Non-causal block',
        rule: 'non-causal',
        change: set('serving', { causal: false }),
      },
    ],
  },
  {
    title: 'Cache',
    features: [
      {
        id: 'interleave-1',
        title: 'Interleave 1',
        rule: 'interleave',
        change: set('parallel', { interleave: 1 }),
      },
      {
        id: 'interleave-16',
        title: 'Interleave 16',
        rule: 'interleave',
        change: set('parallel', { interleave: 16 }),
      },
      { id: 'interleave-page', title: 'Interleave of a page', rule: 'interleave', change: wholePages },
      ...[16, 32, 64, 128].map(
        (size): Feature => ({
          id: `page-${size}`,
          title: `Pages of ${size}`,
          rule: 'page-size',
          change: page(size),
        }),
      ),
      ...(['bf16', 'fp8', 'fp8_ds_mla'] as const).map(
        (type): Feature => ({
          id: `kv-${type}`,
          title: `KV in ${type}`,
          rule: type === 'bf16' ? 'fused-write' : 'kv-dtype',
          change: set('cache', { kvDtype: type }),
        }),
      ),
      {
        id: 'short-prompt',
        title: 'Prompt of one page',
        rule: 'interleave',
        change: (base, profile) =>
          set('workload', { requests: [{ contextLen: base.cache?.pageSize ?? 64 }] })(base, profile),
      },
    ],
  },
  {
    title: 'Transport',
    features: [
      ...TRANSPORTS.map(
        (comm): Feature => ({
          id: `comm-${comm}`,
          title: comm,
          rule: 'transport',
          change: set('parallel', { comm }),
        }),
      ),
      ...TRANSPORTS.slice(0, 2).map(
        (comm): Feature => ({
          id: `replicate-${comm}`,
          title: `Replicated queries, ${comm}`,
          rule: 'transport',
          change: set('parallel', { comm, replicateQ: true }),
        }),
      ),
    ],
  },
  {
    title: 'Heads',
    features: [
      { id: 'gathered-24', title: '24 gathered heads', rule: 'heads', change: sizes(48, 8, 4) },
      { id: 'gathered-96', title: '96 gathered heads', rule: 'heads', change: sizes(192, 8, 4) },
      { id: 'tp8-dcp8', title: '128 heads, TP8 DCP8', rule: 'head-envelope', change: sizes(128, 8, 8) },
      { id: 'local-32', title: '32 local heads', rule: 'mixed-batch', change: sizes(128, 4, 2) },
      {
        id: 'mla',
        title: 'MLA model',
        rule: 'heads',
        change: (base) => ({ ...base, model: { heads: 128 } }),
      },
      {
        id: 'gqa',
        title: 'Grouped KV heads',
        rule: 'heads',
        change: set('model', { kvHeads: 2, headDim: 128 }),
      },
    ],
  },
  {
    title: 'Drafts and phases',
    features: [
      {
        id: 'dspark',
        title: 'DSpark draft',
        rule: 'draft',
        change: set('serving', { draft: 'DSpark' }),
      },
      { id: 'eagle', title: 'EAGLE3 draft', rule: 'draft', change: set('serving', { draft: 'EAGLE3' }) },
      {
        id: 'prefill',
        title: 'Prefill',
        rule: 'prefill-no-merge',
        change: set('serving', { phase: 'prefill' }),
      },
      {
        id: 'autotune',
        title: 'Autotuning',
        rule: 'autotune',
        change: set('serving', { phase: 'autotune' }),
      },
    ],
  },
  {
    title: 'Choice of kernel',
    features: [
      { id: 'xqa', title: 'XQA decode', rule: 'lse-not-returned', change: kernel('xqa') },
      {
        id: 'trtllm-gen',
        title: 'trtllm-gen decode',
        rule: 'reorder-threshold',
        change: kernel('trtllm-gen'),
      },
      {
        id: 'trtllm-gen-q-2',
        title: 'trtllm-gen, 2 query tokens',
        rule: 'reorder-threshold',
        change: all(kernel('trtllm-gen'), set('workload', { qLen: 2 })),
      },
      {
        id: 'trtllm-prefill',
        title: 'trtllm-gen prefill',
        rule: 'prefill-no-merge',
        change: all(kernel('trtllm-gen'), set('serving', { phase: 'prefill' })),
      },
    ],
  },
  {
    title: 'Machine and versions',
    features: [
      ...(['sm80', 'sm90', 'sm100'] as const).map(
        (name): Feature => ({ id: name, title: name, rule: 'arch', change: set('serving', { arch: name }) }),
      ),
      {
        id: 'deepseek-sm100',
        title: 'DeepSeek-V3 on sm100',
        rule: 'arch',
        change: (base, profile) =>
          profile.semantics.attention === 'gqa'
            ? null
            : all(set('model', { preset: 'deepseek-v3' }), set('serving', { arch: 'sm100' }))(base, profile),
      },
      ...[
        ['flashinfer', '0.6.16'],
        ['tokenspeed-mla', '0.1.7'],
        ['vllm', '0.26.0'],
      ].map(
        ([name = '', version = '']): Feature => ({
          id: `${name}-${version}`,
          title: `${name} ${version}`,
          rule: name === 'vllm' ? 'lse-not-returned' : 'version',
          change: set('serving', { versions: { [name]: version } }),
        }),
      ),
    ],
  },
]
