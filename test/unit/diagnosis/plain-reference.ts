import type { Attended, AttendTask, Reference } from '../../../app/diagnosis/reference.ts'

/** The same as the native engine computes, by plain loops. */
export const attendPlainly = (task: AttendTask): Attended => {
  const { q, heads, keyDim, valueDim, keys, values, kvHeadOf, kvHeads, scale, segments } = task
  const out = new Float64Array(segments.length * heads * valueDim)
  const lse = new Float64Array(segments.length * heads).fill(Number.NEGATIVE_INFINITY)
  const [source, stride] = values === undefined ? [keys, keyDim] : [values, valueDim]
  segments.forEach((end, segment) => {
    const from = segments[segment - 1] ?? 0
    for (let head = 0; head < heads; head++) {
      const kv = kvHeadOf[head] ?? 0
      const scores: number[] = []
      for (let token = from; token < end; token++) {
        let dot = 0
        for (let d = 0; d < keyDim; d++)
          dot += (q[head * keyDim + d] ?? 0) * (keys[(token * kvHeads + kv) * keyDim + d] ?? 0)
        scores.push(dot * scale)
      }
      if (scores.length === 0) continue
      const top = scores.reduce((a, b) => Math.max(a, b))
      const total = scores.reduce((sum, score) => sum + Math.exp(score - top), 0)
      lse[segment * heads + head] = top + Math.log(total)
      scores.forEach((score, i) => {
        const weight = Math.exp(score - top) / total
        for (let d = 0; d < valueDim; d++) {
          const at = (segment * heads + head) * valueDim + d
          out[at] = (out[at] ?? 0) + weight * (source[((from + i) * kvHeads + kv) * stride + d] ?? 0)
        }
      })
    }
  })
  return { out, lse }
}

export const PLAIN_REFERENCE: Reference = { attend: async (task) => attendPlainly(task) }
