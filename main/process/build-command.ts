/** Whether this is the pack for servers, which its launcher says; it has no window, and no npm to build with. */
export const isServerPack = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env.DCPSCOPE_SERVER_PACK !== undefined

/** The command that builds the engine, for messages. */
export const buildCommand = (env?: Readonly<Record<string, string | undefined>>): string =>
  isServerPack(env) ? './build.sh' : 'npm run build'
