/** Least distance of a card from the edges of the plot, px. */
const EDGE = 4

/**
 * CSS `translate` of a card at (x, y) of a plot: beside the pointer, on the side that has more room, and moved up or down as
 * far as its height, which only CSS knows, needs to stay inside. A card higher than the plot shows its beginning.
 */
export const cardShift = (x: number, y: number, width: number, height: number): string => {
  const across = x > width * 0.6 ? 'calc(-100% - 14px)' : '14px'
  const wanted = y > height * 0.5 ? 'calc(-100% - 8px)' : '14px'
  return `${across} max(${EDGE - y}px, min(${wanted}, calc(${height - y - EDGE}px - 100%)))`
}
