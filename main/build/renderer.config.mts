import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The page of the window; served over app:// from dist/renderer, so that every address is relative. */
export default defineConfig({
  root: 'renderer',
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    target: 'chrome114',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  server: { host: '127.0.0.1', port: 5317, strictPort: true },
})
