import type { SpanTile } from '../../../renderer/views/timeline/tiles.ts'

/** Items of a tile that has none. */
export const NO_ITEMS: SpanTile['outer'] = {
  rank: new Int32Array(),
  start: new Float64Array(),
  dur: new Float64Array(),
  busy: new Float64Array(),
  wait: new Float64Array(),
  stage: new Uint8Array(),
  step: new Int32Array(),
  layer: new Int32Array(),
  count: new Int32Array(),
  sources: new Uint8Array(),
}
