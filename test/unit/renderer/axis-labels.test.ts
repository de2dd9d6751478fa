import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ink } from '../../../renderer/drawing/ink.ts'
import type { Pen } from '../../../renderer/drawing/pen.ts'
import { NO_COPIES } from '../../../renderer/views/ownership/copies.ts'
import { drawRuler as drawTokenRuler } from '../../../renderer/views/ownership/draw-strip.ts'
import { geometryOf } from '../../../renderer/views/ownership/geometry.ts'
import { fitted } from '../../../renderer/views/ownership/viewport.ts'
import { drawRuler as drawTimeRuler } from '../../../renderer/views/timeline/draw-ruler.ts'
import { lanesOf } from '../../../renderer/views/timeline/lanes.ts'

const CHARACTER = 6.62

const ink: Ink = {
  bg0: '#000',
  bg1: '#000',
  bg2: '#000',
  line: '#000',
  text0: '#000',
  text1: '#000',
  text2: '#000',
  accent: '#000',
  bad: '#000',
  warn: '#000',
  ok: '#000',
  mono: 'monospace',
  ui: 'sans-serif',
}

interface Label {
  readonly text: string
  readonly right: number
}

/** A context that keeps what is written left-aligned on it; everything else goes nowhere. */
const paper = (): { ctx: Pen; labels: Label[] } => {
  const labels: Label[] = []
  const own = {
    textAlign: 'left',
    measureText: (text: string) => ({ width: text.length * CHARACTER }),
    fillText: (text: string, x: number) => {
      if (own.textAlign === 'left') labels.push({ text, right: x + text.length * CHARACTER })
    },
    fillRect: () => {},
  }
  return { ctx: own as unknown as Pen, labels }
}

const plots = fc.integer({ min: 200, max: 2500 })

describe('no label of an axis is cut at the right edge', () => {
  it('of times', () => {
    fc.assert(
      fc.property(
        plots,
        fc.integer({ min: 0, max: 1e9 }),
        fc.integer({ min: 100, max: 1e9 }),
        (plot, startNs, span) => {
          const { ctx, labels } = paper()
          const scene = {
            range: { startNs, endNs: startNs + span },
            lanes: lanesOf(400, 2, 0),
            pieces: [],
            steps: null,
            dimmed: new Set<never>(),
            selectedRank: null,
            selectedStep: null,
            selected: null,
            hovered: null,
            pickedKernel: null,
            events: [],
            notes: [],
            flows: [],
            meeting: null,
            path: null,
            area: null,
            zoomBox: null,
            marks: [],
          }
          drawTimeRuler(ctx, scene, plot, 400, ink)
          for (const { text, right } of labels) expect(right, text).toBeLessThanOrEqual(plot)
        },
      ),
    )
  })

  it('of tokens', () => {
    fc.assert(
      fc.property(plots, fc.integer({ min: 1, max: 2_000_000 }), (width, len) => {
        const { ctx, labels } = paper()
        const geometry = geometryOf(width, 400, 4)
        drawTokenRuler(ctx, {
          len,
          paging: { dcp: 4, interleave: 1, page: 16 },
          view: fitted(len, geometry.plotWidth),
          pages: null,
          hovered: null,
          selected: null,
          rank: null,
          copies: NO_COPIES,
          geometry,
          theme: 'dark',
          ink,
          paint: () => {},
        })
        for (const { text, right } of labels) expect(right, text).toBeLessThanOrEqual(width)
      }),
    )
  })
})
