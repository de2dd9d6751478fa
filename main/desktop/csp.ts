import { parseUrl } from './url.ts'

const directives = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')

const NOTHING = {
  'default-src': "'none'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
}

/** Policy of the page as it ships: its own files and nothing else. */
export const CSP = directives({
  ...NOTHING,
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'worker-src': "'self'",
})

/** Policy while developing: the dev server injects styles and an inline preamble and talks over a web socket. */
export const devCsp = (origin: string): string => {
  const socket = origin.replace(/^http/, 'ws')
  return directives({
    ...NOTHING,
    'script-src': `${origin} 'unsafe-inline'`,
    'style-src': `${origin} 'unsafe-inline'`,
    'img-src': `${origin} data: blob:`,
    'font-src': `${origin} data:`,
    'connect-src': `${origin} ${socket}`,
    'worker-src': `${origin} blob:`,
  })
}

/** Origin of the dev server, or undefined where it is not on this machine. */
export const devOrigin = (url: string | undefined): string | undefined => {
  const parsed = url === undefined ? undefined : parseUrl(url)
  if (parsed === undefined) return undefined
  const { protocol, hostname, origin } = parsed
  const local = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  return protocol === 'http:' && local ? origin : undefined
}
