import { argv } from 'node:process'
import { Store } from '../../../main/store/store.ts'
import { evenSpans, fakeEngine, spanChunk } from './sample.ts'

/** Child process of killed-writer.test.ts: writes spans to the bundle named first until it is killed. */
const store = new Store()
const engine = fakeEngine()
store.attachEngine(engine.storeEnd)
engine.begin(argv[2] ?? '')
let time = 0
setInterval(() => {
  for (const rank of [0, 1])
    engine.chunk(
      spanChunk(
        rank,
        evenSpans(100).map((s) => ({ ...s, start: s.start + time })),
      ),
    )
  time += 1000
}, 20)
