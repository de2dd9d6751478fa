import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright/test'

/** What axe finds serious or critical on the page, each with the first places. */
export const seriousIn = async (page: Page): Promise<string[]> => {
  // The window's own page; axe would otherwise open another for frames, of which there are none.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .slice(0, 4)
          .map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ''}`)
          .join(' | ')}`,
    )
}
