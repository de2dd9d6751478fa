import { saveTable } from '../../export/save.ts'
import type { TableSource } from '../../export/table-source.ts'
import { ImportIcon } from '../../shell/icons.tsx'

/** Saves what is listed as CSV: the groups, or all events of the open one. */
export const SaveButton = ({ source }: { readonly source: TableSource }) => (
  <button
    type="button"
    className="button button-quiet"
    title={`Save as a file: ${source.name}`}
    data-testid="events-csv"
    onClick={() => void saveTable(source, 'csv')}
  >
    <ImportIcon /> CSV
  </button>
)
