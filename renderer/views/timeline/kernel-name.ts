/** Text without what stands in (balanced) brackets. */
const withoutBrackets = (text: string, open: string, close: string): string => {
  let depth = 0
  let kept = ''
  for (const letter of text) {
    if (letter === open) depth++
    if (depth === 0) kept += letter
    if (letter === close && depth > 0) depth--
  }
  return kept
}

/** `attend` for `void engine::(anonymous namespace)::attend<64, true>(Work)`: what fits beside others on a lane. */
export const shortKernelName = (name: string): string => {
  if (!name.includes('(')) return name
  const plain = withoutBrackets(name.replaceAll('(anonymous namespace)', ''), '<', '>')
  const path = withoutBrackets(plain, '(', ')').trim()
  return path.slice(Math.max(path.lastIndexOf(':'), path.lastIndexOf(' ')) + 1) || name
}
