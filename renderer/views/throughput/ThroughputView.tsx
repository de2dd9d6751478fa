import '../../controls/controls.css'
import '../../controls/form/form.css'
import './throughput.css'
import './measure.css'
import { useSession } from '../../state/session.ts'
import { useSweepForm } from '../../state/sweep-form.ts'
import { MeasureBar } from './MeasureBar.tsx'
import { NewSweep } from './NewSweep.tsx'
import { NoSweep } from './NoSweep.tsx'
import { SweepView } from './SweepView.tsx'

/** Does DCP pay, and where: the rates of a sweep over context, concurrency, size and transport. */
export const ThroughputView = () => {
  const run = useSession((s) => s.openRun)
  const openId = useSession((s) => s.openId)
  const active = useSession((s) => s.desktop?.activeSweep?.run ?? null)
  const over = useSweepForm((s) => s.over)
  const sweep = run?.manifest.sweep
  if (over !== null && over.run === openId) return <NewSweep />
  if (run !== null && sweep !== undefined) return <SweepView key={run.id} run={run} sweep={sweep} />
  if (openId !== null && openId === active) return <Beginning run={openId} />
  return <NoSweep hasRun={run !== null} />
}

/** A sweep of this app before its first point, which makes the bundle. */
const Beginning = ({ run }: { readonly run: string }) => (
  <section className="throughput" aria-label="Throughput">
    <MeasureBar run={run} manifest={null} progress={null} />
    <div className="empty-state" data-testid="throughput-beginning">
      <p>Short runs tell the rates of the device, by which the cost model predicts every point.</p>
      <p className="quiet">The first point begins the bundle; from then on nothing measured is lost.</p>
    </div>
  </section>
)
