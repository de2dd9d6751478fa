import type { Finding, Picture } from '../../../app/diagnosis/result.ts'
import { faultNamed } from '../../../app/faults/index.ts'
import { SCENARIOS } from '../../../app/scenarios/index.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { sourceAddress } from '../../controls/source-address.ts'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatInt } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useDump } from '../../state/dump.ts'
import { useScenarios } from '../../state/scenarios.ts'
import { useSelection } from '../../state/selection.ts'
import { useView } from '../../state/view.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawEvidence, evidenceTable, pictureHeight, pictureTable } from './draw-evidence.ts'
import {
  type At,
  evidenceText,
  expectedText,
  type Listed,
  listed,
  selectionOf,
  worthText,
} from './findings.ts'

/** Shows where a finding shows in the tensors: at `place`, and of what that does not say at the first. */
const lookAt = (finding: Finding, place: At = {}): void => {
  const { row = finding.rows[0], ...of } = place
  useSelection.getState().select({ request: null, qIndex: null, head: null, ...selectionOf(finding), ...of })
  useDump.getState().look('tensors', row)
}

/** One cause with what speaks for it. */
export const FindingCard = ({ finding, place }: { readonly finding: Finding; readonly place: number }) => {
  const { fault, title, summary, ambiguousWith, captureNext, evidence, causes } = finding
  return (
    <article className="pm-finding" aria-label={title} data-testid={`pm-finding-${fault}`}>
      <header>
        <h3>
          <span className="num pm-place">{place}</span> {title}
        </h3>
        <code className="selectable">{fault}</code>
        <span className="pm-worth" title="How sure it is, and how much of the observed error it accounts for">
          <progress value={finding.confidence} max={1} aria-hidden="true" /> {worthText(finding)}
        </span>
      </header>
      <p className="pm-summary selectable">{summary}</p>
      {ambiguousWith.length === 0 ? null : (
        <p className="pm-ambiguous" data-testid="pm-ambiguous">
          These tensors do not tell it from{' '}
          {ambiguousWith.map((other) => `${faultNamed(other).title} (${other})`).join(', or ')}.
        </p>
      )}
      <Where finding={finding} />
      <div className="pm-evidence">
        <Numbers finding={finding} />
        {evidence.picture === undefined ? null : <EvidencePicture picture={evidence.picture} />}
      </div>
      {causes.length === 0 ? null : (
        <ul className="pm-causes">
          {causes.map(({ text, source }) => (
            <li key={`${source} ${text}`} className="selectable">
              Usual cause: {text} <span className="quiet num">{source}</span>
              <CopyButton text={sourceAddress(source)} what="the source" />
            </li>
          ))}
        </ul>
      )}
      <p className="pm-next selectable">
        <b>Record next:</b> {captureNext}
      </p>
    </article>
  )
}

const Where = ({ finding }: { readonly finding: Finding }) => {
  const select = useSelection((s) => s.select)
  const { ranks, steps, layers, rows, rowCount, heads } = finding
  const shownRanks = listed(ranks)
  return (
    <p className="pm-where">
      {shownRanks.shown.map((rank) => (
        <button
          key={rank}
          type="button"
          className="rank-pick"
          aria-label={`rank ${rank}`}
          title={`Select rank ${rank}`}
          onClick={() => select({ rank })}
        >
          <RankChip rank={rank} />
        </button>
      ))}
      {shownRanks.more === 0 ? null : <span className="quiet">+{shownRanks.more}</span>}
      <Some what="step" all={listed(steps)} onLook={(step) => lookAt(finding, { step })} />
      <Some what="layer" all={listed(layers)} onLook={(layer) => lookAt(finding, { layer })} />
      <Some what="row" all={listed(rows, rowCount)} onLook={(row) => lookAt(finding, { row })} />
      <Some what="head" all={listed(heads)} onLook={(head) => lookAt(finding, { head })} />
      <button
        type="button"
        className="button"
        data-testid="pm-look"
        title="Its first step, layer, rank, row and head among the tensors; each number here leads to its own"
        onClick={() => lookAt(finding)}
      >
        Show in tensors
      </button>
      <ScenarioButton fault={finding.fault} />
    </p>
  )
}

/** The way to the same failure on our own engine, where the library has it. */
const ScenarioButton = ({ fault }: Pick<Finding, 'fault'>) => {
  const scenario = SCENARIOS.find((one) => one.fault === fault)
  return scenario === undefined ? null : (
    <button
      type="button"
      className="button"
      data-testid="pm-scenario"
      title={`${scenario.title}: broken and fixed on the engine here`}
      onClick={() => {
        useScenarios.getState().filter('')
        useScenarios.getState().pick(scenario.name)
        useView.getState().show('scenarios')
      }}
    >
      Scenario
    </button>
  )
}

interface SomeProps {
  readonly what: string
  readonly all: Listed
  readonly onLook: (value: number) => void
}

/** Places of one kind, each the way to its tensors. */
const Some = ({ what, all: { shown, more }, onLook }: SomeProps) =>
  shown.length === 0 ? null : (
    <span className="pm-some">
      {what}
      {shown.length + more === 1 ? '' : 's'}
      {shown.map((value) => (
        <button
          key={value}
          type="button"
          className="pm-some-pick num"
          aria-label={`${what} ${value} in the tensors`}
          title={`Show ${what} ${value} in the tensors`}
          data-testid={`pm-look-${what}-${value}`}
          onClick={() => onLook(value)}
        >
          {value}
        </button>
      ))}
      {more === 0 ? '' : ` and ${formatInt(more)} more`}
    </span>
  )

const Numbers = ({
  finding: {
    evidence: { numbers },
  },
}: {
  readonly finding: Finding
}) =>
  numbers.length === 0 ? null : (
    <table className="pm-numbers">
      <thead>
        <tr>
          <th scope="col">evidence</th>
          <th scope="col">seen</th>
          <th scope="col">right</th>
        </tr>
      </thead>
      <tbody>
        {numbers.map((number) => (
          <tr key={number.name}>
            <th scope="row">{number.name}</th>
            <td className="num selectable" title={String(number.value)}>
              {evidenceText(number)}
            </td>
            <td className="num selectable" title={String(number.expected ?? '')}>
              {expectedText(number)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )

const EvidencePicture = ({ picture }: { readonly picture: Picture }) => {
  const theme = useTheme()
  const canvas = useCanvas(
    (ctx, width, height) => drawEvidence(ctx, width, height, theme, picture),
    [theme, picture],
  )
  const [head = [], ...lines] = pictureTable(picture)
  const table = useTableSource(picture.title, () => evidenceTable(picture))
  return (
    <figure className="pm-picture">
      <figcaption>
        {picture.title} <span className="quiet">{picture.unit}</span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${picture.title}; its numbers stand below`}
        style={{ height: pictureHeight(picture) }}
      />
      <details>
        <summary>as numbers</summary>
        <table ref={table}>
          <thead>
            <tr>
              {head.map((text, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no state of their own
                <th key={i} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((cells, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no state of their own
              <tr key={i}>
                {cells.map((text, k) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells have no state of their own
                  <td key={k} className={k === 0 ? '' : 'num'}>
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
