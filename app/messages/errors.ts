/** An error in the output; one that has no bound, of a NaN or an infinity, is kept as the largest number where JSON is. */
export const errorText = (error: number, digits = 2): string =>
  error < Number.MAX_VALUE ? error.toExponential(digits) : 'infinite'
