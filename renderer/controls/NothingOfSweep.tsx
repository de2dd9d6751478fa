import { useView } from '../state/view.ts'

interface Props {
  /** What a view shows of runs and a sweep does not keep: `no spans`. */
  readonly lacks: string
  readonly children?: React.ReactNode
}

/** In place of a view that has nothing of a sweep. */
export const NothingOfSweep = ({ lacks, children }: Props) => {
  const show = useView((s) => s.show)
  return (
    <div className="empty-state" data-testid="nothing-of-sweep">
      <p>
        A sweep is open: it keeps the numbers of its points and {lacks}. To look into one point, run it by
        itself.
      </p>
      <div className="sweep-choices">
        <button type="button" className="button button-primary" onClick={() => show('throughput')}>
          Go to Throughput
        </button>
        {children}
      </div>
    </div>
  )
}
