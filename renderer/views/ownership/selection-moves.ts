/** Token after a key: arrows by one (with shift by a round), Home and End; null for other keys. */
export const movedToken = (
  code: string,
  shift: boolean,
  token: number | null,
  len: number,
  round: number,
): number | null => {
  if (len === 0) return null
  const at = (to: number): number => Math.min(len - 1, Math.max(0, to))
  const by = shift ? round : 1
  switch (code) {
    case 'ArrowRight':
      return token === null ? 0 : at(token + by)
    case 'ArrowLeft':
      return token === null ? len - 1 : at(token - by)
    case 'Home':
      return 0
    case 'End':
      return len - 1
    default:
      return null
  }
}
