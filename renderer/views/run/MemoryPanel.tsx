import type { RunConfig } from '../../../app/run/config.ts'
import type { Prediction } from '../../../app/run/machine.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatBytes } from '../../drawing/format.ts'
import { gpuOf, gpuText, runsOn } from '../../state/devices.ts'
import { useSession } from '../../state/session.ts'
import { usePrediction } from '../../state/use-prediction.ts'
import { memoryOf } from './memory.ts'

const Components = ({ prediction }: { readonly prediction: Prediction }) => {
  const { components, totalBytes, fits } = memoryOf(prediction)
  return (
    <>
      <div className="memory-bar" aria-hidden="true">
        <span
          className={fits ? '' : 'memory-over'}
          style={{ width: `${Math.min(100, (100 * totalBytes) / Math.max(1, prediction.availableBytes))}%` }}
        />
      </div>
      {fits ? null : <p className="run-problem">It does not fit into what is free now.</p>}
      <dl className="run-facts memory-parts" data-testid="memory-components">
        {components.map(({ name, bytes }) => (
          <div key={name} title={`${bytes} bytes`}>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd className="num">{formatBytes(bytes)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** What the configuration would run on, and the memory that it would take there. */
export const MemoryPanel = ({ config }: { readonly config: RunConfig }) => {
  const machine = useSession((s) => s.desktop?.machine ?? null)
  const { prediction, refusal } = usePrediction(config)
  const gpu = prediction?.device === 'cuda' ? gpuOf(machine) : null
  return (
    <div className="derived-memory" data-testid="memory-prediction">
      <div className="memory-head">
        <h4>Memory on {runsOn(config, machine)}</h4>
        <SourceBadge source="predicted" />
        {prediction === null ? null : (
          <span className="num" data-testid="memory-verdict">
            {formatBytes(memoryOf(prediction).totalBytes)} of {formatBytes(prediction.availableBytes)} free
          </span>
        )}
      </div>
      {gpu === null ? null : <p className="quiet">{gpuText(gpu)}</p>}
      {prediction === null ? (
        <p className={refusal === null ? 'quiet' : 'run-problem'}>{refusal ?? 'The engine is asked…'}</p>
      ) : (
        <Components prediction={prediction} />
      )}
    </div>
  )
}
