import { peersText } from '../../../app/run/gpu-links.ts'
import type { Machine } from '../../../app/run/machine.ts'
import { formatBytes, formatInt } from '../../drawing/format.ts'
import { whyNoGpu } from '../../state/devices.ts'
import { useSession } from '../../state/session.ts'
import { machineLine } from './machine-line.ts'

/** What the engine can run on here: CPU, every GPU, how GPUs reach each other, and what ranks would exchange by. */
export const MachinePanel = () => {
  const machine = useSession((s) => s.desktop?.machine ?? null)
  return (
    <details className="derived machine" data-testid="machine">
      <summary>
        <h3>This machine</h3>
        <span className="derived-line">{machine === null ? 'The engine looks…' : machineLine(machine)}</span>
      </summary>
      {machine === null ? null : <Parts machine={machine} />}
    </details>
  )
}

const Parts = ({ machine }: { readonly machine: Machine }) => {
  const { cpu, cuda } = machine
  const gpus = cuda?.available === true ? cuda.devices : []
  return (
    <div className="machine-parts">
      <dl className="run-facts">
        <div>
          <dt>CPU cores</dt>
          <dd className="num">
            {formatInt(cpu.cores)}, {cpu.simd}
          </dd>
        </div>
        <div>
          <dt>memory free</dt>
          <dd className="num">{formatBytes(cpu.memoryAvailableBytes)}</dd>
        </div>
      </dl>
      {gpus.length === 0 ? (
        <p className="quiet" data-testid="machine-no-gpu">
          No GPU: {whyNoGpu(machine)}.
        </p>
      ) : (
        <table className="machine-gpus" data-testid="machine-gpus">
          <thead>
            <tr>
              <th scope="col">GPU</th>
              <th scope="col">name</th>
              <th scope="col" className="num" title="Streaming multiprocessors">
                SMs
              </th>
              <th scope="col" className="num" title="Compute capability">
                sm
              </th>
              <th scope="col" className="num">
                free
              </th>
              <th scope="col" className="num">
                memory
              </th>
              <th scope="col" className="num" title="NVLink links that are up">
                NVLink
              </th>
              {gpus.length > 1 ? (
                <th scope="col" title="GPUs whose memory it can reach, by NVLink or PCIe">
                  reaches
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {gpus.map((gpu, i) => (
              <tr key={gpu.uuid ?? i}>
                <th scope="row" className="num">
                  {i}
                </th>
                <td>{gpu.name}</td>
                <td className="num">{gpu.multiprocessors}</td>
                <td className="num">{gpu.computeCapability}</td>
                <td className="num">{formatBytes(gpu.freeBytes)}</td>
                <td className="num">{formatBytes(gpu.memoryBytes)}</td>
                <td className="num">{gpu.nvLinks ?? 'not known'}</td>
                {gpus.length > 1 ? <td className="num">{gpu.peers?.join(', ') ?? 'not known'}</td> : null}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {gpus.length > 1 ? (
        <p className="quiet" data-testid="machine-peers">
          {peersText(gpus.map(({ peers }) => peers ?? []))}.{' '}
          {cuda?.nccl === undefined
            ? ''
            : cuda.nccl.available
              ? `NCCL ${cuda.nccl.version ?? ''} for ag_rs and a2a between ranks with a GPU each.`
              : `No NCCL: ${cuda.nccl.reason ?? 'it was not found'}.`}
        </p>
      ) : null}
    </div>
  )
}
