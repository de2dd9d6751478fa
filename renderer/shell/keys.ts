import { fieldTakes } from '../controls/field-keys.ts'

/** A key by its place on the keyboard (`KeyboardEvent.code`), so that it stays where it is on any layout. */
export interface KeyStroke {
  readonly code: string
  readonly ctrl: boolean
  readonly alt: boolean
  readonly shift: boolean
}

export const stroke = (
  code: string,
  held: { ctrl?: boolean; alt?: boolean; shift?: boolean } = {},
): KeyStroke => ({
  code,
  ctrl: held.ctrl ?? false,
  alt: held.alt ?? false,
  shift: held.shift ?? false,
})

type Pressed = Pick<KeyboardEvent, 'code' | 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>

/** `?` and `/` sit elsewhere on many layouts, so the character counts as well as the place. */
const isSlash = (pressed: Pressed, key: KeyStroke): boolean =>
  key.code === 'Slash' && pressed.key === (key.shift ? '?' : '/')

export const matches = (pressed: Pressed, key: KeyStroke): boolean =>
  pressed.altKey === key.alt &&
  (pressed.ctrlKey || pressed.metaKey) === key.ctrl &&
  (isSlash(pressed, key) || (pressed.code === key.code && pressed.shiftKey === key.shift))

const NAMES: Readonly<Record<string, string>> = {
  Slash: '/',
  BracketLeft: '[',
  BracketRight: ']',
  Escape: 'Esc',
  Period: '.',
  Comma: ',',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
}

/** Place on the keyboard of a plain key as the help sheet names it: `W`, `0`, `←`, `PageUp`. */
export const codeOf = (name: string): string => {
  if (/^[A-Z]$/.test(name)) return `Key${name}`
  if (/^[0-9]$/.test(name)) return `Digit${name}`
  return Object.entries(NAMES).find(([, written]) => written === name)?.[0] ?? name
}

/** How a key is written: `Ctrl+Shift+Z`, `?`, `1`. */
export const keyText = ({ code, ctrl, alt, shift }: KeyStroke): string => {
  if (code === 'Slash' && shift) return '?'
  const name = NAMES[code] ?? code.replace(/^(Key|Digit)/, '')
  return `${ctrl ? 'Ctrl+' : ''}${alt ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${name}`
}

/** Where plain keys belong to the focused control: fields take all, buttons and links take Enter and Space. */
export const keyBelongsTo = (target: EventTarget | null, { code, ctrl, alt }: KeyStroke): boolean => {
  if (!(target instanceof HTMLElement)) return false
  // Text of several lines has an undo of its own; fields of the form share the form's.
  if (target.tagName === 'TEXTAREA') return true
  if (ctrl || alt) return false
  if (fieldTakes(target, code)) return true
  const presses = code === 'Enter' || code === 'Space'
  return (
    presses && target.closest('button, a, summary, [role="button"], [role="radio"], [role="switch"]') !== null
  )
}
