import { useSession } from '../state/session.ts'
import { WarningIcon } from './icons.tsx'

type Which = 'engine' | 'store'

const Banner = ({ which }: { readonly which: Which }) => {
  const state = useSession((s) => s.desktop?.[which])
  const restart = useSession((s) => s.restart)
  if (state?.status !== 'crashed') return null
  return (
    <div className="crash" role="alert" data-testid={`crash-${which}`}>
      <WarningIcon />
      <p className="selectable">{state.message}</p>
      <button
        type="button"
        className="button"
        data-testid={`restart-${which}`}
        onClick={() => void restart(which)}
      >
        Restart the {which}
      </button>
    </div>
  )
}

/** What happened to a process that died, what was kept, and the way on. */
export const CrashBanners = () => (
  <>
    <Banner which="engine" />
    <Banner which="store" />
  </>
)
