/** A file name that every system takes, of at most 120 characters: words, hyphens, points. */
export const fileName = (words: string, extension: string): string => {
  const plain = words
    .replace(/[^\w. -]+/g, '-')
    .replace(/^[^\w]+/, '')
    .slice(0, 119 - extension.length)
    .trim()
  return `${plain === '' ? 'dcpscope' : plain}.${extension}`
}
