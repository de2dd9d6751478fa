// @ts-check
/**
 * Runs in the page. What happens there is timed there: frames, questions to the store that are open, and how long after an
 * input the page has painted what answers it.
 */
export const installProbe = () => {
  /** Questions to the store that have no answer yet: number and method. @type {Map<number, string>} */
  const open = new Map()
  /** How often each method was asked since frames are recorded. @type {Record<string, number>} */
  let asked = {}
  const heard = new WeakSet()
  const post = MessagePort.prototype.postMessage
  /** @this {MessagePort} @param {any} message @param {any[]} rest */
  MessagePort.prototype.postMessage = function (message, ...rest) {
    if (typeof message?.method === 'string') {
      open.set(message.id, message.method)
      asked[message.method] = (asked[message.method] ?? 0) + 1
      if (!heard.has(this)) {
        heard.add(this)
        this.addEventListener('message', ({ data }) => {
          if (data?.type === 'result' || data?.type === 'error') open.delete(data.id)
        })
      }
    }
    if (message?.cancel !== undefined) open.delete(message.cancel)
    return /** @type {any} */ (post).call(this, message, ...rest)
  }

  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))

  /** After the paint of the frame whose callbacks run now. */
  const afterPaint = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = resolve
      post.call(port2, 0, [])
    })

  const quiet = async () => {
    for (let still = 0; still < 3; still = open.size === 0 ? still + 1 : 0) {
      await nextFrame()
      await afterPaint()
    }
  }

  /** @type {number[]} */
  let frames = []
  let recording = 0
  const startFrames = () => {
    frames = []
    asked = {}
    /** @type {number | undefined} */
    let last
    const tick = (/** @type {number} */ now) => {
      if (last !== undefined) frames.push(now - last)
      last = now
      recording = requestAnimationFrame(tick)
    }
    recording = requestAnimationFrame(tick)
  }
  const takeFrames = () => {
    cancelAnimationFrame(recording)
    return { frames, questions: asked }
  }

  /** What is not answered by then is not answered. */
  const PATIENCE_MS = 15_000
  const INPUTS = ['click', 'keydown', 'wheel', 'input']

  /**
   * Waits for the next input. Times are from its time stamp to the end of the frame that shows what is asked for: `answered`
   * once `isAnswered` holds, `complete` once `isComplete` does as well and the store owes nothing; `event` is what the browser
   * says of the input itself until the next paint, 0 below 16 ms.
   * @param {() => unknown} isAnswered @param {(() => unknown) | null} isComplete null: what is answered is complete
   */
  const arm = (isAnswered, isComplete) => {
    let event = 0
    /** @type {number | undefined} */
    let began
    /** @type {number | undefined} */
    let answered
    /** @type {number | undefined} */
    let complete
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (began !== undefined && entry.startTime >= began - 1) event = Math.max(event, entry.duration)
    })
    observer.observe(/** @type {any} */ ({ type: 'event', durationThreshold: 16 }))
    const note = (/** @type {Event} */ input) => {
      began ??= input.timeStamp
    }
    for (const type of INPUTS) addEventListener(type, note, { capture: true, passive: true })
    const watch = async () => {
      const patience = performance.now() + PATIENCE_MS
      for (let still = 0; still < 3; ) {
        if (performance.now() > patience) break
        await nextFrame()
        // What stands in the page now is what this frame paints.
        const isShown = began !== undefined && isAnswered()
        const isWhole = isShown && (isComplete === null || (open.size === 0 && isComplete()))
        await afterPaint()
        const now = performance.now()
        if (isShown) answered ??= now
        complete = isWhole ? (complete ?? now) : undefined
        still = isWhole ? still + 1 : 0
      }
      observer.disconnect()
      for (const type of INPUTS) removeEventListener(type, note, { capture: true })
      const since = (/** @type {number | undefined} */ at) => (at ?? performance.now()) - (began ?? 0)
      return { answered: since(answered), complete: since(complete), event }
    }
    const result = watch()
    Object.assign(window, { benchResult: result })
  }

  Object.assign(window, { bench: { startFrames, takeFrames, arm, quiet, open } })
}
