/** One line of a terminal that is written over; nothing at all where there is no terminal. */
export interface LiveLine {
  show(text: string): void
  clear(): void
}

export const liveLine = (stream: NodeJS.WriteStream): LiveLine => {
  let shown = false
  const write = (text: string): void => {
    stream.write(`\r\u001b[K${text}`)
  }
  return {
    show: (text) => {
      if (!stream.isTTY) return
      write(text.slice(0, Math.max(0, (stream.columns || 80) - 1)))
      shown = true
    },
    clear: () => {
      if (shown) write('')
      shown = false
    },
  }
}
