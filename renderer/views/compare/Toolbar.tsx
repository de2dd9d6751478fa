import { CopyButton } from '../../shell/CopyButton.tsx'
import { ResetIcon, SwapIcon } from '../../shell/icons.tsx'
import { useCompare } from '../../state/compare.ts'
import { nameOf, type OpenItem, useOpen } from '../../state/open.ts'
import { useSession } from '../../state/session.ts'
import { comparisonText } from './model.ts'
import { swapSides } from './swap.ts'
import type { Comparison, Sides } from './use-compare.ts'

interface Props {
  readonly sides: Sides
  readonly found: Comparison
}

/** Which two are compared, and what to do with the comparison. */
export const Toolbar = ({ sides, found }: Props) => {
  const session = useSession()
  const choose = useCompare((s) => s.choose)
  const { differences, times, rows, tensors, again } = found
  const names = {
    a: sides.a === null ? '' : nameOf(sides.a, session),
    b: sides.b === null ? '' : nameOf(sides.b, session),
  }
  return (
    <div className="toolbar compare-toolbar" role="toolbar" aria-label="Compare">
      <SidePick
        letter="A"
        value={sides.a}
        other={sides.b}
        onPick={(item) => session.showItem(item, { stay: true })}
      />
      <button
        type="button"
        className="button button-icon"
        title="Swap A and B (X)"
        aria-label="Swap A and B"
        data-testid="compare-swap"
        onClick={() => swapSides(sides)}
      >
        <SwapIcon />
      </button>
      <SidePick letter="B" value={sides.b} other={sides.a} onPick={choose} />
      <button
        type="button"
        className="button button-quiet button-icon"
        title="Read both again (R)"
        aria-label="Read both again"
        onClick={again}
      >
        <ResetIcon />
      </button>
      <CopyButton
        text={() => comparisonText(names, differences ?? [], { times, rows, tensors })}
        what="the comparison"
        label="Copy"
        className="button button-quiet"
        testId="compare-copy"
      />
    </div>
  )
}

interface PickProps {
  readonly letter: 'A' | 'B'
  readonly value: OpenItem | null
  /** The other side, which cannot be chosen. */
  readonly other: OpenItem | null
  readonly onPick: (item: OpenItem) => void
}

const SidePick = ({ letter, value, other, onPick }: PickProps) => {
  const session = useSession()
  const open = useOpen((s) => s.items)
  const known: readonly OpenItem[] = [
    ...session.runs.map(({ id }): OpenItem => ({ kind: 'run', id })),
    ...(session.desktop?.dumps ?? []).map(({ id }): OpenItem => ({ kind: 'dump', id })),
  ].filter(({ id }) => open.every((item) => item.id !== id))
  const option = (item: OpenItem) => (
    <option key={item.id} value={item.id} disabled={item.id === other?.id}>
      {nameOf(item, session)}
    </option>
  )
  return (
    <label className="compare-side">
      <span className="compare-letter">{letter}</span>
      <select
        className="input"
        aria-label={`${letter}, what is compared`}
        data-testid={`compare-${letter.toLowerCase()}`}
        value={value?.id ?? ''}
        onChange={(event) => {
          const item = [...open, ...known].find(({ id }) => id === event.target.value)
          if (item !== undefined) onPick(item)
        }}
      >
        <optgroup label="Open">{open.map(option)}</optgroup>
        {known.length === 0 ? null : <optgroup label="Others">{known.map(option)}</optgroup>}
      </select>
    </label>
  )
}
