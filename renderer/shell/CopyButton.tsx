import { useEffect, useState } from 'react'
import { tell } from '../state/messages.ts'
import { CopyIcon, DoneIcon } from './icons.tsx'

interface Props {
  /** Text, or what gives it when it is copied. */
  readonly text: string | (() => string)
  /** What is copied, for the button's name: `Copy start`. */
  readonly what: string
  readonly label?: string
  readonly className?: string
  readonly testId?: string
}

const SHOWN_MS = 1200

/** Puts text on the clipboard and says so for a moment. */
export const CopyButton = ({
  text,
  what,
  label,
  className = 'button button-quiet button-icon',
  testId,
}: Props) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => setCopied(true),
      (error: unknown) =>
        tell('error', `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
  return (
    <button
      type="button"
      className={copied ? `${className} copied` : className}
      title={copied ? 'Copied' : `Copy ${what}`}
      aria-label={`Copy ${what}`}
      data-testid={testId}
      onClick={copy}
    >
      {copied ? <DoneIcon /> : <CopyIcon />}
      {label === undefined ? null : copied ? 'Copied' : label}
    </button>
  )
}
