/** A window that nobody sees gets no frames. */
const UNSEEN_MS = 200

/** Resolves once what stands in the page has been drawn, or the window is not seen. */
export const nextFrame = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, UNSEEN_MS)
  })
