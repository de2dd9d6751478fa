import { contextLens } from '../run/engine-config.ts'
import { kernelHeads } from '../run/shape.ts'
import { type Fault, injection, NO_PARAMS, PLAIN, SEVERAL_RANKS } from './fault.ts'

/** The named ranks take a kernel's lse of [T,H] for [H,T], and one of another layout, a view with strides, for a contiguous [T,H]. */
export const lseLayoutTransposed: Fault = {
  name: 'lse-layout-transposed',
  title: 'LSE read in another layout than it was written',
  summary: 'The lse is read as [H, T] where it is [T, H], or a strided view of it is taken for contiguous.',
  injection: injection({
    point: 'lse.layout',
    params: NO_PARAMS,
    needs: [
      SEVERAL_RANKS,
      {
        path: 'workload.requests',
        holds: (config) => contextLens(config).length * config.workload.qLen > 1,
        rule: 'must have several query tokens together',
      },
      {
        path: 'model.heads',
        holds: (config) => kernelHeads(config) > 1,
        rule: 'must be so many that a kernel sees several',
      },
    ],
    engine: () => PLAIN,
  }),
}
