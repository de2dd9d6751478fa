import { defineConfig } from 'vite'
import { EXTERNAL, PRELOAD } from './entries.mjs'

/** The preload alone: a sandboxed one cannot require a shared chunk. */
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
      input: PRELOAD,
      external: EXTERNAL,
      output: { format: 'cjs', entryFileNames: '[name].js' },
    },
  },
})
