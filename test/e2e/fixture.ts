import type { ElectronApplication, Page } from 'playwright'
import { test as base, expect, type TestInfo } from 'playwright/test'
import { launch } from './launch.ts'

export interface Desk {
  readonly app: ElectronApplication
  readonly page: Page
  /** Data folder of this test alone; runs are kept below it. */
  readonly dataDir: string
}

/** Matches nothing. */
const NO_ERROR = /(?!)/

/** What a failed test looked like. A page that is gone has no picture. */
const attach = async (info: TestInfo, page: Page, errors: readonly string[]): Promise<void> => {
  await info.attach('page errors', { body: errors.join('\n'), contentType: 'text/plain' })
  const path = info.outputPath('page.png')
  const shot = await page.screenshot({ path, timeout: 5000 }).catch(() => undefined)
  if (shot !== undefined) await info.attach('page', { path, contentType: 'image/png' })
}

/** A test in the real app, started for it alone. A test fails when the page logs an error that it does not expect. */
export const test = base.extend<{ desk: Desk; expectedErrors: RegExp }>({
  expectedErrors: [NO_ERROR, { option: true }],
  desk: async ({ expectedErrors }, use, info) => {
    const launched = await launch()
    await use(launched)
    const unexpected = launched.errors.filter((line) => !expectedErrors.test(line))
    if (info.status !== info.expectedStatus) await attach(info, launched.page, launched.errors)
    await launched.close()
    expect(unexpected).toEqual([])
  },
})

export { expect }
