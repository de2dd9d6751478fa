import { describe, expect, it } from 'vitest'
import { CSP, devCsp, devOrigin } from '../../../main/desktop/csp.ts'
import { externalAllowed } from '../../../main/desktop/externals.ts'

describe('the policy of the page', () => {
  it('begins from nothing and allows neither inline code nor evaluation', () => {
    expect(CSP.startsWith("default-src 'none'; ")).toBe(true)
    expect(CSP).not.toContain('unsafe')
    expect(CSP).toContain("script-src 'self'")
    expect(CSP).toContain("frame-ancestors 'none'")
  })

  it('is widened for the dev server only, to its own origin', () => {
    const policy = devCsp('http://localhost:5173')
    expect(policy).toContain("script-src http://localhost:5173 'unsafe-inline'")
    expect(policy).toContain('ws://localhost:5173')
    expect(policy).not.toContain('unsafe-eval')
  })
})

describe('the dev server', () => {
  it.each([['http://localhost:5173/'], ['http://127.0.0.1:5173']])('may be on this machine: %s', (url) => {
    expect(devOrigin(url)).toMatch(/^http:\/\/(localhost|127\.0\.0\.1):5173$/)
  })
  it.each([
    [undefined],
    ['http://example.com/'],
    ['https://localhost/'],
    ['http://localhost.evil.com'],
    ['file:///x'],
    ['x'],
  ])('is nowhere else: %s', (url) => {
    expect(devOrigin(url)).toBeUndefined()
  })
})

describe('a link out of the app', () => {
  it('may lead to the named hosts over https', () => {
    expect(externalAllowed('https://github.com/vllm-project/vllm/issues/1')).toBe(true)
  })
  it.each([
    ['http://github.com/'],
    ['https://github.com.evil.com/'],
    ['https://evil.com/github.com'],
    ['https://user:pw@github.com/'],
    ['https://github.com:8443/'],
    ['file:///etc/passwd'],
    ['javascript:alert(1)'],
    ['vscode://x'],
    ['nonsense'],
  ])('may not lead to %s', (url) => {
    expect(externalAllowed(url)).toBe(false)
  })
})
