import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { expect } from 'playwright/test'
import { encodeHeader, tensorBytes } from '../../app/dump/safetensors.ts'
import { DUMP_FORMAT } from '../../app/dump/schema.ts'
import { dumpBytes, ints, type Tensors } from '../unit/dump/dump-file.ts'
import { waitReady } from './desk.ts'

export const DUMP = { rows: 4, heads: 8, width: 16, ranks: 4 } as const

/** Value of a partial: tells rank, row, head and place; row 2, head 5 of rank 3 holds a NaN. */
export const partialAt = (rank: number, row: number, head: number, place: number): number =>
  rank === 3 && row === 2 && head === 5 && place === 7
    ? Number.NaN
    : (rank + 1) * Math.sin(row * 100 + head * 10 + place)

const grid = (
  rows: number,
  heads: number,
  value: (row: number, head: number, place: number) => number,
): number[] => {
  const { width } = DUMP
  return Array.from({ length: rows * heads * width }, (_, i) =>
    value(Math.floor(i / (heads * width)), Math.floor(i / width) % heads, i % width),
  )
}

const tensorsOf = (rank: number): Tensors => {
  const { rows, heads, width, ranks } = DUMP
  const kept = heads / ranks
  return {
    out: {
      shape: [rows, heads, width],
      values: grid(rows, heads, (row, head, place) => partialAt(rank, row, head, place)),
    },
    lse: {
      shape: [rows, heads],
      values: Array.from({ length: rows * heads }, (_, i) =>
        rank > 1 && i < heads ? Number.NEGATIVE_INFINITY : 3 + rank / 4 + (i % heads) / 10,
      ),
    },
    merged: {
      shape: [rows, kept, width],
      values: grid(rows, kept, (row, head, place) => Math.cos(row + (rank * kept + head) + place / 4)),
    },
    seq_lens_global: ints([2, 33, 65, 130]),
    seq_lens_local: ints([2, 33, 65, 130].map((n) => Math.max(0, Math.ceil((n - rank) / ranks)))),
    odd_one: { shape: [3] },
  }
}

/** Writes the dump of one step and layer, a file a rank, into `folder`; `change` alters its tensors. */
export const writeDump = (
  folder: string,
  step = 7,
  layer = 2,
  change: (rank: number, tensors: Tensors) => Tensors = (_rank, tensors) => tensors,
): void => {
  mkdirSync(folder, { recursive: true })
  for (let rank = 0; rank < DUMP.ranks; rank++)
    writeFileSync(
      join(folder, `step${step}-layer${layer}-rank${rank}.safetensors`),
      dumpBytes(change(rank, tensorsOf(rank)), {
        rank: String(rank),
        dcp_size: String(DUMP.ranks),
        step: String(step),
        layer: String(layer),
        lse_base: 'e',
        page_size: '16',
        interleave: '1',
        engine: 'by a test',
      }),
    )
}

/** Writes a file whose partials have so many values that not all are read at first; its data are zeros that take no disk. */
export const writeLargeDump = (folder: string): void => {
  mkdirSync(folder, { recursive: true })
  const spec = { name: 'out', dtype: 'F8_E4M3', shape: [64, 128, 4096] } as const
  const header = encodeHeader([spec], {
    format: DUMP_FORMAT,
    rank: '0',
    dcp_size: '1',
    step: '1',
    layer: '0',
  })
  const file = openSync(join(folder, 'large.safetensors'), 'w')
  writeSync(file, header)
  ftruncateSync(file, header.length + tensorBytes(spec))
  closeSync(file)
}

/** Drags files and folders over the window; `work` tells the browser what is done with them. */
const dragging = async (
  page: Page,
  paths: readonly string[],
  work: (tell: (type: 'dragEnter' | 'dragOver' | 'drop') => Promise<unknown>) => Promise<void>,
): Promise<void> => {
  const devtools = await page.context().newCDPSession(page)
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  await work((type) => devtools.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data }))
  await devtools.detach()
}

/** Drops files and folders on the window, as the browser tells the page of it. */
export const dropOn = async (page: Page, paths: readonly string[], let_go = true): Promise<void> => {
  await waitReady(page, 'store')
  await expect(page.getByTestId('view-run')).toBeVisible()
  await dragging(page, paths, async (tell) => {
    await tell('dragEnter')
    await tell('dragOver')
    if (let_go) await tell('drop')
  })
}

/** Drops files and folders just after what lies under the pointer was replaced: the new element is entered, not yet moved over. */
export const dropOnNewElement = (page: Page, paths: readonly string[]): Promise<void> =>
  dragging(page, paths, async (tell) => {
    await tell('dragEnter')
    await tell('dragOver')
    await page.evaluate(() => {
      const fresh = document.createElement('div')
      fresh.id = 'fresh'
      fresh.style.cssText = 'position: fixed; inset: 0; z-index: 1000'
      document.body.append(fresh)
    })
    await tell('drop')
    await page.evaluate(() => document.getElementById('fresh')?.remove())
  })
