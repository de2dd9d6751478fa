import { readFile } from 'node:fs/promises'
import { protocol } from 'electron'
import { APP_SCHEME, resolveAsset } from './assets.ts'
import { CSP } from './csp.ts'

/** Gives app:// the rights of a web origin. Only works before the app is ready. */
export const registerScheme = (): void =>
  protocol.registerSchemesAsPrivileged([
    { scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true } },
  ])

const headers = (type: string): Record<string, string> => ({
  'content-type': type,
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
})

const plain = (status: number): Response =>
  new Response(null, { status, headers: headers('text/plain; charset=utf-8') })

/** Serves the built page from `root`. */
export const serveScheme = (root: string): void =>
  protocol.handle(APP_SCHEME, async ({ method, url }) => {
    const asset = resolveAsset(root, method, url)
    if (!asset.ok) return plain(asset.status)
    try {
      return new Response(await readFile(asset.path), { headers: headers(asset.type) })
    } catch {
      // Whatever keeps a file of our own page from being read, the page sees it as missing.
      return plain(404)
    }
  })
