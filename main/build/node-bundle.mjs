// @ts-check

/** Provided by Electron, or native and therefore left in node_modules. */
const EXTERNAL = ['electron', /^@duckdb\//]

/**
 * Settings that bundle entries for Node 18 as CommonJS: packages go in but for native ones. Electron main, hosts and
 * command line are built so, and so are the parts of them that benchmarks load.
 * @param {Readonly<Record<string, string>>} input name of the output to entry
 * @param {string} outDir
 * @param {{ extension?: 'js' | 'cjs', root?: string, logLevel?: 'error' }} [options]
 */
export const nodeBundle = (input, outDir, { extension = 'js', root, logLevel } = {}) => ({
  configFile: /** @type {const} */ (false),
  ...(root === undefined ? {} : { root }),
  ...(logLevel === undefined ? {} : { logLevel }),
  ssr: { noExternal: /** @type {const} */ (true) },
  build: {
    ssr: true,
    outDir,
    emptyOutDir: false,
    target: 'node18',
    minify: /** @type {const} */ (false),
    rolldownOptions: {
      input,
      external: EXTERNAL,
      output: {
        format: /** @type {const} */ ('cjs'),
        entryFileNames: `[name].${extension}`,
        chunkFileNames: `chunks/[name].${extension}`,
      },
    },
  },
})
