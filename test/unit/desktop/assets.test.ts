import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveAsset } from '../../../main/desktop/assets.ts'

const ROOT = '/opt/app/dist/renderer'
const get = (url: string) => resolveAsset(ROOT, 'GET', url)

describe('an app:// request', () => {
  it('means the page for the bare address and a file with its type otherwise', () => {
    expect(get('app://bundle/')).toEqual({
      ok: true,
      path: `${ROOT}/index.html`,
      type: 'text/html; charset=utf-8',
    })
    expect(get('app://bundle/assets/a%20b.js?v=1#x')).toEqual({
      ok: true,
      path: `${ROOT}/assets/a b.js`,
      type: 'text/javascript; charset=utf-8',
    })
  })

  it.each([
    ['app://bundle/..%2f..%2fmain.js'],
    ['app://bundle/..%2frenderer-two/x.js'],
    ['app://bundle/%2e%2e%2fmain.js'],
    ['app://bundle/a/..%2f..%2f..%2fetc/x.js'],
    ['app://bundle/..%5c..%5cmain.js'],
    ['app://bundle/a%00.js'],
  ])('that would leave the folder is forbidden: %s', (url) => {
    expect(get(url)).toEqual({ ok: false, status: 403 })
  })

  it.each([
    ['app://other/index.html'],
    ['https://bundle/index.html'],
    ['app://bundle/%E0%A4%A'],
    ['nonsense'],
  ])('that is none is refused: %s', (url) => {
    expect(get(url)).toEqual({ ok: false, status: 400 })
  })

  it('of a kind that the page has no use for is not found', () => {
    expect(get('app://bundle/.env')).toEqual({ ok: false, status: 404 })
    expect(get('app://bundle/native/dcpscope.node')).toEqual({ ok: false, status: 404 })
  })

  it('only reads', () => {
    expect(resolveAsset(ROOT, 'POST', 'app://bundle/')).toEqual({ ok: false, status: 405 })
  })

  it('never names a file outside of the folder, however it is written', () => {
    const part = fc.constantFrom('..', '.', '%2e%2e', '%2f', '/', 'a', 'x.js', '%252e', '\\', '%5c', '//')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const asset = get(`app://bundle/${parts.join('')}/x.js`)
        if (asset.ok) expect(asset.path.startsWith(`${ROOT}/`)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
