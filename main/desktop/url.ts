/** The URL, or undefined for text that is none. URL.canParse would say the same and is newer than Electron 25. */
export const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Scheme and host of an address; URL.origin is 'null' for schemes of our own. */
export const originOf = (text: string): string => {
  const url = parseUrl(text)
  return url === undefined ? '' : `${url.protocol}//${url.host}`
}
