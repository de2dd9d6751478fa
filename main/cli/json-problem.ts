/** Where and why `text` is not JSON. JSON.parse words this differently in every version of Node, so it is found here. */
export const jsonProblem = (text: string): string => {
  if (text.trim() === '') return 'is not JSON: it is empty'
  const at = jsonErrorOffset(text)
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - (before.lastIndexOf('\n') + 1) + 1
  const found = at >= text.length ? 'the text ends too early' : `unexpected ${shownCharacter(text, at)}`
  return `is not JSON: line ${line}, column ${column}: ${found}`
}

const shownCharacter = (text: string, at: number): string =>
  JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))

const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*`
const SCALAR = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`
const TOKEN = new RegExp(String.raw`(?:(?<string>${STRING}")|(?<scalar>${SCALAR})|(?<mark>[[\]{},:]))`, 'y')
const STRING_START = new RegExp(STRING, 'y')
const SPACE = /[ \t\n\r]*/y

type State = 'value' | 'firstItem' | 'firstKey' | 'key' | 'colon' | 'next'

/** Offset of the first character that no JSON text could have there; the length of the text if it ends too early. */
const jsonErrorOffset = (text: string): number => {
  const open: ('[' | '{')[] = []
  let state: State = 'value'
  let offset = 0
  for (;;) {
    const start = endOf(SPACE, text, offset)
    TOKEN.lastIndex = start
    const match = TOKEN.exec(text)
    // Within a bad string the fault is where the string stops being one.
    if (match === null) return endOf(STRING_START, text, start)
    const next = transition(state, match.groups ?? {}, open)
    if (next === undefined) return start
    state = next
    offset = TOKEN.lastIndex
  }
}

/** Where a match of the sticky `pattern` at `offset` ends; `offset` when there is none. */
const endOf = (pattern: RegExp, text: string, offset: number): number => {
  pattern.lastIndex = offset
  return pattern.test(text) ? pattern.lastIndex : offset
}

const transition = (
  state: State,
  { string, scalar, mark }: Readonly<Record<string, string | undefined>>,
  open: ('[' | '{')[],
): State | undefined => {
  const wantsValue = state === 'value' || state === 'firstItem'
  if (string !== undefined) {
    if (state === 'key' || state === 'firstKey') return 'colon'
    return wantsValue ? 'next' : undefined
  }
  if (scalar !== undefined) return wantsValue ? 'next' : undefined
  switch (mark) {
    case '[':
    case '{':
      if (!wantsValue) return undefined
      open.push(mark)
      return mark === '[' ? 'firstItem' : 'firstKey'
    case ']':
      return (state === 'firstItem' || state === 'next') && open.pop() === '[' ? 'next' : undefined
    case '}':
      return (state === 'firstKey' || state === 'next') && open.pop() === '{' ? 'next' : undefined
    case ':':
      return state === 'colon' ? 'value' : undefined
    case ',': {
      if (state !== 'next') return undefined
      const inside = open.at(-1)
      return inside === '{' ? 'key' : inside === '[' ? 'value' : undefined
    }
    default:
      return undefined
  }
}
