/** Colours and fonts of the interface, as the theme's CSS variables have them, for drawing on a canvas. */
export interface Ink {
  readonly bg0: string
  readonly bg1: string
  readonly bg2: string
  readonly line: string
  readonly text0: string
  readonly text1: string
  readonly text2: string
  readonly accent: string
  readonly bad: string
  readonly warn: string
  readonly ok: string
  readonly mono: string
  readonly ui: string
}

/** Read anew for each drawing: the theme may have changed since. */
export const inkOf = (): Ink => {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string): string => style.getPropertyValue(name).trim()
  return {
    bg0: read('--bg-0'),
    bg1: read('--bg-1'),
    bg2: read('--bg-2'),
    line: read('--line'),
    text0: read('--text-0'),
    text1: read('--text-1'),
    text2: read('--text-2'),
    accent: read('--accent'),
    bad: read('--bad'),
    warn: read('--warn'),
    ok: read('--ok'),
    mono: read('--font-mono'),
    ui: read('--font-ui'),
  }
}
