import { defineConfig } from 'vite'
import { ENTRIES, EXTERNAL } from './entries.mjs'

/** Electron main, engine host, store host and command line: CommonJS for Node 18, packages bundled but for native ones. */
export default defineConfig({
  configFile: false,
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: false,
    target: 'node18',
    minify: false,
    rolldownOptions: {
      input: ENTRIES,
      external: EXTERNAL,
      output: { format: 'cjs', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    },
  },
})
