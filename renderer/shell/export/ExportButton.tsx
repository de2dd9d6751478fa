import { formatInt } from '../../drawing/format.ts'
import { useTableWork } from '../../export/save.ts'
import { ImportIcon } from '../icons.tsx'
import { EXPORT_BUTTON, toggleExportMenu, useExportMenu } from './menu-state.ts'

/** Opens the menu of what can be saved; while a long table is read it says how far that is, and stops it. */
export const ExportButton = () => {
  const open = useExportMenu((s) => s.open !== null)
  const { reading, cancel } = useTableWork()
  return reading === null ? (
    <button
      id={EXPORT_BUTTON}
      type="button"
      className="button button-quiet selection-export"
      title="Save pictures as PNG or SVG and tables as CSV (Ctrl+E, or the right button on one)"
      aria-haspopup="dialog"
      aria-expanded={open}
      data-testid="export"
      onClick={toggleExportMenu}
    >
      <ImportIcon /> Export
    </button>
  ) : (
    <span className="selection-export" role="status">
      {reading.name}: <span className="num">{formatInt(reading.done)}</span> of{' '}
      <span className="num">{formatInt(reading.total)}</span> rows{' '}
      <button type="button" className="button" data-testid="export-cancel" onClick={cancel}>
        Cancel
      </button>
    </span>
  )
}
