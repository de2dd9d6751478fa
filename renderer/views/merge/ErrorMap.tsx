import { drawHeat } from '../../drawing/draw-heat.ts'
import { useTheme } from '../../theme/use-theme.ts'
import type { CaptureShape } from './model.ts'
import { type MapCell, RowHeadMap } from './RowHeadMap.tsx'
import { sciText } from './Verdicts.tsx'

/** Relative error of every row and head. */
export const ErrorMap = ({
  capture,
  picked,
}: {
  readonly capture: CaptureShape
  readonly picked: MapCell
}) => {
  const theme = useTheme()
  if (!capture.hasReference)
    return <p className="merge-quiet">The capture has no reference, so there is no error to map.</p>
  return (
    <RowHeadMap
      capture={capture}
      picked={picked}
      draw={(ctx, width, height) => drawHeat(ctx, width, height, theme, capture, picked)}
      deps={[theme, capture, picked.row, picked.head]}
      testId="merge-map"
      label={`Relative error of ${capture.rows} rows and ${capture.heads} heads; arrow keys move the picked one`}
      note={({ row, head }) => sciText(capture.relErr[row * capture.heads + head] ?? Number.NaN)}
    />
  )
}
