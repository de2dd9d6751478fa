/** One line of a terminal that is written over; nothing at all where there is no terminal. */
export interface LiveLine {
  show(text: string): void
  /** Clears the line; nothing is shown afterwards. */
  close(): void
}

export const liveLine = (stream: NodeJS.WriteStream): LiveLine => {
  let shown = false
  let closed = !stream.isTTY
  const write = (text: string): void => {
    stream.write(`\r\u001b[K${text}`)
  }
  return {
    show: (text) => {
      if (closed) return
      write(text.slice(0, Math.max(0, (stream.columns || 80) - 1)))
      shown = true
    },
    close: () => {
      if (shown) write('')
      closed = true
    },
  }
}
