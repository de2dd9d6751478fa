/** Every runtime of the product has it; the language's own library, all that this room is compiled with, does not declare it. */
declare const TextDecoder: new (
  encoding: 'utf-8',
  options: { fatal: boolean; ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string }

/** The text of UTF-8 bytes; undefined when they are not UTF-8. */
export const utf8Text = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
