import { invoke, stateOf } from './desk.ts'
import { expect, test } from './fixture.ts'

/** What page code may do. Run from a timer, because evaluation by the driver itself is exempt from the policy. */
const fromPage = (body: string): string =>
  `new Promise((resolve) => setTimeout(async () => { try { resolve(await (async () => { ${body} })()) } catch (e) { resolve(e.name) } }))`

/** What the browser says when the policy does its work. */
test.use({
  expectedErrors: /Content Security Policy|403 \(Forbidden\)|Not allowed to load local resource/,
})

test('page code cannot evaluate text, run inline script or reach another host', async ({
  desk: { page },
}) => {
  expect(await page.evaluate(fromPage('return new Function("return 1")()'))).toBe('EvalError')
  expect(
    await page.evaluate(
      fromPage(`
        const script = document.createElement('script')
        script.textContent = 'window.inlineRan = true'
        document.body.append(script)
        return window.inlineRan === true`),
    ),
  ).toBe(false)
  expect(await page.evaluate(fromPage('await fetch("https://example.com/")'))).toBe('TypeError')
  expect(
    await page.evaluate(fromPage('return (await fetch("app://bundle/..%2f..%2fpackage.json")).status')),
  ).toBe(403)
})

test('the policy begins from nothing and comes with the page', async ({ desk: { page } }) => {
  const policy = await page.evaluate(
    fromPage('return (await fetch(location.href)).headers.get("content-security-policy")'),
  )
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toContain('unsafe')
})

test('the page has no Node and reaches the rest through one bridge', async ({ desk: { page } }) => {
  expect(await page.evaluate('[typeof require, typeof process, typeof module, typeof Buffer].join()')).toBe(
    'undefined,undefined,undefined,undefined',
  )
  expect(await page.evaluate('Object.keys(window.dcpscope).sort()')).toEqual([
    'getState',
    'invoke',
    'onState',
    'requestStorePort',
  ])
})

test('the page runs sandboxed and isolated', async ({ desk: { app } }) => {
  const preferences = await app.evaluate(({ BrowserWindow }) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents
    // Not in the type definitions; the only way to read what a page really runs with.
    const read: unknown = contents === undefined ? null : Reflect.get(contents, 'getLastWebPreferences')
    return typeof read === 'function' ? read.call(contents) : null
  })
  expect(preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webviewTag: false,
  })
})

test('the page cannot navigate away, open windows or embed others', async ({ desk: { app, page } }) => {
  const url = page.url()
  await app.evaluate(({ shell }) => {
    Reflect.set(globalThis, 'opened', [])
    Reflect.set(shell, 'openExternal', async (link: string) => {
      Reflect.get(globalThis, 'opened').push(link)
    })
  })
  expect(await page.evaluate(fromPage('return window.open("https://example.com/") === null'))).toBe(true)
  expect(await page.evaluate(fromPage('return window.open("https://github.com/x") === null'))).toBe(true)
  await page.evaluate(fromPage('location.href = "https://example.com/"'))
  await page.evaluate(fromPage('location.href = "file:///etc/passwd"'))
  await page.evaluate(
    fromPage(`
      const frame = document.createElement('iframe')
      frame.src = 'https://example.com/'
      document.body.append(frame)
      frame.remove()`),
  )
  expect(page.url()).toBe(url)
  expect(await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1)
  expect(await app.evaluate(() => Reflect.get(globalThis, 'opened'))).toEqual(['https://github.com/x'])
})

test('permissions are denied', async ({ desk: { page } }) => {
  expect(await page.evaluate(fromPage('return Notification.requestPermission()'))).toBe('denied')
  for (const name of ['geolocation', 'notifications', 'clipboard-read'])
    expect(
      await page.evaluate(fromPage(`return (await navigator.permissions.query({ name: '${name}' })).state`)),
    ).toBe('denied')
})

test('a payload that fits no command is refused and changes nothing', async ({ desk: { page } }) => {
  const before = await stateOf(page)
  for (const [command, params] of [
    ['quit', {}],
    ['__proto__', {}],
    ['restart', { process: 'main' }],
    ['restart', null],
    ['pauseRun', { extra: 1 }],
    ['revealRun', { run: '../../../etc' }],
    ['startRun', { config: 'tiny' }],
    ['startRun', { config: {}, name: 'x'.repeat(1000) }],
  ] as const)
    expect(await invoke(page, command, params), command).toMatchObject({ ok: false })
  expect((await stateOf(page)).activeRun).toEqual(before.activeRun)
})

test('a frame that is not the window gets no answers', async ({ desk: { app } }) => {
  const answer = await app.evaluate(async ({ ipcMain, BrowserWindow }) => {
    const handlers: unknown = Reflect.get(ipcMain, '_invokeHandlers')
    if (!(handlers instanceof Map)) return 'no handlers'
    const frame = BrowserWindow.getAllWindows()[0]?.webContents.mainFrame
    const handler = handlers.get('dcpscope:command')
    const payload = { command: 'stopRun', params: {} }
    const stranger = { url: 'https://example.com/', parent: null }
    return {
      ours: (await handler({ senderFrame: frame }, payload)).message,
      none: (await handler({ senderFrame: null }, payload)).message,
      stranger: (await handler({ senderFrame: stranger }, payload)).message,
    }
  })
  expect(answer).toEqual({
    ours: 'No run is in progress.',
    none: 'This page may not send commands.',
    stranger: 'This page may not send commands.',
  })
})
