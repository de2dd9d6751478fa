import { PlusIcon, RemoveIcon } from '../../shell/icons.tsx'
import { isRecord } from '../../state/config-path.ts'
import { type ControlProps, ControlView, controlId } from './ControlView.tsx'
import type { FormField } from './form-schema.ts'
import { useIssuesAt } from './issues.ts'

interface Props extends ControlProps {
  readonly columns: readonly FormField[]
  readonly newRow: Readonly<Record<string, unknown>>
}

/** Columns that are shown: those that must be there, and others that a row has. */
const shownColumns = (columns: readonly FormField[], rows: readonly unknown[]): readonly FormField[] =>
  columns.filter(
    ({ key, optional }) => !optional || rows.some((row) => isRecord(row) && row[key] !== undefined),
  )

const Cell = ({ path, field, value, onChange, onSettle }: Omit<ControlProps, 'invalid' | 'control'>) => {
  const issues = useIssuesAt(path)
  return (
    <td title={issues[0]?.message ?? field.description}>
      <ControlView
        path={path}
        field={field}
        control={field.control}
        value={value}
        invalid={issues.length > 0}
        onChange={onChange}
        onSettle={onSettle}
      />
    </td>
  )
}

/** A list of records as an editable table. */
export const TableControl = ({ path, field, value, columns, newRow, onChange, onSettle }: Props) => {
  const given = value ?? field.fallback
  const rows: readonly unknown[] = Array.isArray(given) ? given : []
  const shown = shownColumns(columns, rows)
  return (
    <div className="table-control" id={controlId(path)}>
      {rows.length === 0 ? null : (
        <table>
          <thead>
            <tr>
              {shown.map(({ key, title, unit }) => (
                <th key={key} scope="col">
                  {title}
                  {unit === '' ? null : <span className="field-unit"> {unit}</span>}
                </th>
              ))}
              <th aria-label="Remove" />
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity besides their place
              <tr key={i}>
                {shown.map((column) => (
                  <Cell
                    key={column.key}
                    path={`${path}[${i}].${column.key}`}
                    field={column}
                    value={isRecord(row) ? row[column.key] : undefined}
                    onChange={onChange}
                    onSettle={onSettle}
                  />
                ))}
                <td>
                  <button
                    type="button"
                    className="button button-quiet button-icon"
                    aria-label={`Remove row ${i + 1}`}
                    title="Remove"
                    onClick={() => {
                      onSettle()
                      onChange(
                        path,
                        rows.filter((_, at) => at !== i),
                      )
                      onSettle()
                    }}
                  >
                    <RemoveIcon />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <button
        type="button"
        className="button button-quiet table-add"
        onClick={() => {
          onSettle()
          onChange(path, [...rows, newRow])
          onSettle()
        }}
      >
        <PlusIcon /> Add
      </button>
    </div>
  )
}
