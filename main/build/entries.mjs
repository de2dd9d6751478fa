// @ts-check

/** Processes and command line: name in dist/ to entry. */
export const ENTRIES = {
  main: 'main/desktop/main.ts',
  'engine-host': 'main/engine/host.ts',
  'rank-host': 'main/ranks/rank-host.ts',
  'store-host': 'main/store/host.ts',
  'diagnosis-host': 'main/diagnosis/host.ts',
  'sweep-host': 'main/sweep/host.ts',
  cli: 'main/cli/cli.ts',
}
export const PRELOAD = { preload: 'main/desktop/preload.ts' }
export const PAGE = 'renderer/index.html'
