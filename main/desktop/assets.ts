import { extname, join, normalize, sep } from 'node:path'
import { originOf, parseUrl } from './url.ts'

export const APP_SCHEME = 'app'
export const APP_ORIGIN = 'app://bundle'

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.mjs', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.map', 'application/json; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
  ['.wasm', 'application/wasm'],
  ['.txt', 'text/plain; charset=utf-8'],
])

export type Asset =
  | { readonly ok: true; readonly path: string; readonly type: string }
  | { readonly ok: false; readonly status: 400 | 403 | 404 | 405 }

/** File below `root` that an app:// request means. Anything that would leave the folder is refused, encoded or not. */
export const resolveAsset = (root: string, method: string, url: string): Asset => {
  if (method !== 'GET' && method !== 'HEAD') return { ok: false, status: 405 }
  const path = pathOf(url)
  if (path === undefined) return { ok: false, status: 400 }
  if (path.includes('\0') || path.includes('\\')) return { ok: false, status: 403 }
  const file = normalize(join(root, path === '/' ? 'index.html' : path))
  if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) return { ok: false, status: 403 }
  const type = TYPES.get(extname(file).toLowerCase())
  return type === undefined ? { ok: false, status: 404 } : { ok: true, path: file, type }
}

/** Decoded path of an app://bundle URL; undefined for another host or a broken encoding. */
const pathOf = (url: string): string | undefined => {
  const parsed = parseUrl(url)
  if (parsed === undefined || originOf(url) !== APP_ORIGIN) return undefined
  try {
    return decodeURIComponent(parsed.pathname)
  } catch {
    return undefined
  }
}
