import { tabText } from '../../../app/messages/csv.ts'
import type { Course } from '../../../app/sweep/crossings.ts'
import type { Axis } from '../../../app/sweep/spots.ts'
import { Term } from '../../controls/Term.tsx'
import { formatRate } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { crossingsTable } from './picture-tables.ts'
import { axisText, courseText, placeText } from './words.ts'

interface Props {
  readonly courses: readonly Course[]
  readonly axis: Axis
  readonly held: number
}

/** Where each arrangement passes the baseline, or that it does not. */
export const Crossings = ({ courses, axis, held }: Props) => {
  const exact = () => crossingsTable(courses, axis, held)
  const table = useTableSource('Crossovers', exact)
  if (courses.length === 0) return null
  return (
    <div className="throughput-twin">
      <h4>
        <span>
          <Term id="crossover">Crossovers</Term> with tp
        </span>
        <CopyButton
          text={tabText(exact())}
          what="the crossovers"
          label="Copy"
          className="button button-quiet throughput-copy"
          testId="copy-crossings"
        />
      </h4>
      <table ref={table} className="cell-table crossing-table" data-testid="crossings">
        <thead>
          <tr>
            <th scope="col">arrangement</th>
            <th scope="col">at {axis}</th>
            <th scope="col">between</th>
            <th scope="col">tokens/s</th>
            <th scope="col">from there on</th>
            <th scope="col" title="Whether the difference is significant on both sides">
              certain
            </th>
          </tr>
        </thead>
        <tbody>
          {courses.map((course) =>
            course.crossings.length === 0 ? (
              <tr key={course.name}>
                <th scope="row">{course.name}</th>
                <td colSpan={5} className="cell-word crossing-none">
                  {courseText(course, axis)}
                </td>
              </tr>
            ) : (
              course.crossings.map(({ at, between, rate, into, clear }) => (
                <tr key={`${course.name} ${at}`} data-testid="crossing">
                  <th scope="row">{course.name}</th>
                  <td title={String(at)}>{placeText(axis, at)}</td>
                  <td>{between.map((value) => axisText(axis, value)).join(' and ')}</td>
                  <td title={String(rate)}>{formatRate(rate)}</td>
                  <td className="cell-word">{into === 'dcp' ? `${course.name} faster` : 'tp faster'}</td>
                  <td className="cell-word">{clear ? 'significant' : 'not significant'}</td>
                </tr>
              ))
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}
