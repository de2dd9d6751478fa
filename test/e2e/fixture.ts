import type { ElectronApplication, Page } from 'playwright'
import { test as base, expect } from 'playwright/test'
import { launch } from './launch.ts'

export interface Desk {
  readonly app: ElectronApplication
  readonly page: Page
  /** Data folder of this test alone; runs are kept below it. */
  readonly dataDir: string
}

/** Matches nothing. */
const NO_ERROR = /(?!)/

/** A test in the real app, started for it alone. A test fails when the page logs an error that it does not expect. */
export const test = base.extend<{ desk: Desk; expectedErrors: RegExp }>({
  expectedErrors: [NO_ERROR, { option: true }],
  desk: async ({ expectedErrors }, use) => {
    const launched = await launch()
    await use(launched)
    await launched.close()
    const unexpected = launched.errors.filter((line) => !expectedErrors.test(line))
    expect(unexpected).toEqual([])
  },
})

export { expect }
