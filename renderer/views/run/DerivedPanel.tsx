import { useMemo } from 'react'
import type { RunConfig } from '../../../app/run/config.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatBytes, formatFloat, formatInt } from '../../drawing/format.ts'
import { useRunForm } from '../../state/form.ts'
import { rankColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { type Derived, derivedOf } from './derived.ts'
import { MemoryPanel } from './MemoryPanel.tsx'

const MOST_RANKS = 16

const facts = (d: Derived): readonly { label: string; value: string; title: string }[] => [
  { label: 'requests', value: formatInt(d.requests), title: 'Requests of the batch' },
  { label: 'query rows a layer', value: formatInt(d.rows), title: 'Requests times query length' },
  { label: 'tokens a step', value: formatInt(d.tokensPerStep), title: 'Accepted tokens of the batch' },
  {
    label: 'heads in a kernel',
    value: formatInt(d.kernelHeads),
    title: 'Heads that the kernel of one rank sees: heads * dcp size / tp size',
  },
  {
    label: 'heads after the merge',
    value: formatInt(d.mergedHeads),
    title: 'Heads that one rank holds: heads / tp size',
  },
  {
    label: 'softmax scale',
    value: formatFloat(d.softmaxScale, 5),
    title: 'Factor on scores before the softmax',
  },
  {
    label: 'layers computed',
    value:
      d.measuredLayers === d.layers
        ? formatInt(d.layers)
        : `${formatInt(d.measuredLayers)} of ${formatInt(d.layers)}`,
    title: 'Where fewer layers are computed than the model has, derived numbers say scaled',
  },
  {
    label: 'longest request',
    value:
      d.longest === d.longestAtEnd
        ? formatInt(d.longest)
        : `${formatInt(d.longest)} → ${formatInt(d.longestAtEnd)}`,
    title: 'Tokens at the first and at the last traced step',
  },
  {
    label: 'pages a rank',
    value: formatInt(d.pages),
    title: 'Physical pages that the batch holds at the last step',
  },
  {
    label: 'KV cache a rank',
    value: formatBytes(d.kvBytesPerRank),
    title: `${d.kvBytesPerRank} bytes of pages on each rank at the last step, over the computed layers`,
  },
  {
    label: 'KV cache unsharded',
    value: formatBytes(d.kvBytesWhole),
    title: `${d.kvBytesWhole} bytes of keys without sharding`,
  },
]

const Lengths = ({ lengths }: { readonly lengths: readonly number[] }) => {
  const theme = useTheme()
  const most = Math.max(1, ...lengths)
  return (
    <div className="run-lengths">
      {lengths.slice(0, MOST_RANKS).map((length, rank) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is the rank
        <div className="run-length" key={rank}>
          <RankChip rank={rank} />
          <span className="run-length-bar">
            <span style={{ width: `${(100 * length) / most}%`, background: rankColour(rank, theme) }} />
          </span>
          <span className="num">{formatInt(length)}</span>
        </div>
      ))}
      {lengths.length > MOST_RANKS ? (
        <p className="quiet">
          and {lengths.length - MOST_RANKS} more ranks, down to {formatInt(lengths.at(-1) ?? 0)}
        </p>
      ) : null}
    </div>
  )
}

const Body = ({ config, derived }: { readonly config: RunConfig; readonly derived: Derived }) => (
  <div className="derived-body">
    <dl className="run-facts">
      {facts(derived).map(({ label, value, title }) => (
        <div key={label} title={title}>
          <dt>{label}</dt>
          <dd className="num">{value}</dd>
        </div>
      ))}
    </dl>
    <div className="derived-lengths">
      <h4>Local lengths of the longest request, tokens</h4>
      <Lengths lengths={derived.localLengths} />
    </div>
    <MemoryPanel config={config} />
  </div>
)

/** What the configuration in the form means, before it runs. Folded away while a run is open and room is short. */
export const DerivedPanel = ({ folded }: { readonly folded: boolean }) => {
  const config = useRunForm((s) => s.config)
  const derived = useMemo(() => (config === null ? null : derivedOf(config)), [config])
  return (
    <details className="derived" open={!folded}>
      <summary>
        <h3>This configuration</h3>
        {derived === null ? null : (
          <span className="derived-line num">
            {formatInt(derived.requests)} requests on {formatInt(derived.ranks)} ranks,{' '}
            {formatBytes(derived.kvBytesPerRank)} KV a rank
          </span>
        )}
      </summary>
      {config === null || derived === null ? (
        <p className="quiet">Derived numbers stand here once the configuration is valid.</p>
      ) : (
        <Body config={config} derived={derived} />
      )}
    </details>
  )
}
