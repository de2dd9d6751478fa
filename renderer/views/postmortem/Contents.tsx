import { formatBytes, formatInt } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { type DumpGroup, type DumpInfo, rankName } from './model.ts'

interface Props {
  readonly contents: DumpInfo
  readonly group: DumpGroup | null
}

type Problem = DumpInfo['problems'][number]

/** What the dump can answer, which files it has, and what is wrong with them. */
export const Contents = ({ contents, group }: Props) => {
  useInspector({ view: 'postmortem', title: 'Dump', rows: dumpRows(contents), about: [] }, [contents])
  return (
    <div className="pm-contents">
      <Problems contents={contents} />
      {group === null ? null : (
        <>
          <Questions group={group} />
          <Files group={group} />
        </>
      )}
    </div>
  )
}

/** What the inspector says of a dump as a whole. */
const dumpRows = ({ groups, problems, moreProblems }: DumpInfo): InspectorRow[] => {
  const steps = new Set(groups.map(({ step }) => step))
  const layers = new Set(groups.map(({ layer }) => layer))
  const count = (label: string, value: number): InspectorRow => ({
    label,
    value: formatInt(value),
    copy: String(value),
  })
  const bytes = groups.reduce((sum, group) => sum + group.bytes, 0)
  return [
    count('steps', steps.size),
    count('layers', layers.size),
    count(
      'files',
      groups.reduce((sum, { ranks }) => sum + ranks.length, 0),
    ),
    { label: 'size', value: formatBytes(bytes), copy: String(bytes) },
    count('problems', problems.length + moreProblems),
  ]
}

const placeText = ({ file, step, layer }: Problem): string => file ?? `step ${step}, layer ${layer}`

const problemText = (problem: Problem): string =>
  [placeText(problem), ...(problem.tensor === null ? [] : [`tensor ${problem.tensor}`]), problem.rule].join(
    ': ',
  )

const Problems = ({ contents: { problems, moreProblems } }: { readonly contents: DumpInfo }) =>
  problems.length === 0 ? (
    <p className="pm-fine">Every file of the dump is whole and fits the others.</p>
  ) : (
    <section aria-label="What is wrong with files">
      <h3>
        What is wrong with files
        <CopyButton text={problems.map(problemText).join('\n')} what="the list" />
      </h3>
      <ul className="pm-problems" data-testid="pm-problems">
        {problems.map((problem, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no state of their own
          <li key={i}>
            <span className={problem.refused ? 'badge badge-bad' : 'badge badge-warn'}>
              {problem.refused ? 'left out' : 'used'}
            </span>
            <span className="selectable">{problemText(problem)}</span>
          </li>
        ))}
      </ul>
      {moreProblems === 0 ? null : <p className="quiet">and {moreProblems} more</p>}
    </section>
  )

const Questions = ({ group }: { readonly group: DumpGroup }) => (
  <section aria-label="What it can answer">
    <h3>What this step and layer can answer</h3>
    <table className="pm-questions" data-testid="pm-questions">
      <tbody>
        {group.questions.map(({ name, asks, lacks }) => (
          <tr key={name} data-testid={`pm-question-${name}`} data-answerable={lacks === ''}>
            <th scope="row">{asks}?</th>
            <td>
              <span className={lacks === '' ? 'badge badge-ok' : 'badge'}>
                {lacks === '' ? 'can be answered' : 'needs'}
              </span>{' '}
              {lacks}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const Files = ({ group: { files, missing, dcpSize } }: { readonly group: DumpGroup }) => (
  <section aria-label="Files">
    <h3>Files of this step and layer</h3>
    {missing.length === 0 ? null : (
      <p className="pm-lacking">
        No file of {missing.length === 1 ? 'rank' : 'ranks'} {[...missing].join(', ')} of {dcpSize}.
      </p>
    )}
    <table className="pm-files">
      <thead>
        <tr>
          <th scope="col">rank</th>
          <th scope="col">file</th>
          <th scope="col">size</th>
          <th scope="col">tensors</th>
          <th scope="col">metadata</th>
        </tr>
      </thead>
      <tbody>
        {files.map((file) => (
          <tr key={file.rank}>
            <th scope="row">{rankName(file.rank)}</th>
            <td className="selectable">{file.file}</td>
            <td className="num">{formatBytes(file.bytes)}</td>
            <td className="num">{formatInt(file.tensors.length + file.moreTensors)}</td>
            <td className="selectable pm-metadata">
              {file.metadata
                .filter(({ key }) => !['format', 'rank', 'dcp_size', 'step', 'layer'].includes(key))
                .map(({ key, value }) => `${key} ${value}`)
                .join(', ')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
