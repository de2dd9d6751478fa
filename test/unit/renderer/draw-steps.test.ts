import { expect, it } from 'vitest'
import { indexAt, STEPS_EDGE, shareAt, shareOf } from '../../../renderer/views/run/draw-steps.ts'

const { left, right } = STEPS_EDGE
const WIDTH = left + 400 + right

it('a point lies across the plot from its left edge to its right one, and beside it nowhere', () => {
  expect([left, left + 100, left + 400].map((x) => shareAt(x, WIDTH))).toEqual([0, 0.25, 1])
  expect([left - 1, WIDTH - right + 1].map((x) => shareAt(x, WIDTH))).toEqual([null, null])
})

it('the nearest step is found also where steps are thinned unevenly', () => {
  const steps = [10, 20, 60, 110]
  expect([0, 0.04, 0.06, 0.29, 0.31, 0.76, 1].map((share) => indexAt(steps, share))).toEqual([
    0, 0, 1, 1, 2, 3, 3,
  ])
  expect(indexAt([], 0.5)).toBeNull()
  expect(indexAt([7], 0.9)).toBe(0)
})

it('a step lies where a point on it finds it', () => {
  const steps = [0, 3, 4, 90]
  for (const i of steps.keys()) expect(indexAt(steps, shareOf(steps, i))).toBe(i)
  expect(shareOf([7], 0)).toBe(0.5)
})
