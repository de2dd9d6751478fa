import './help.css'
import type { ReactNode } from 'react'

/** A variable. */
export const V = ({ children }: { readonly children: ReactNode }) => <var>{children}</var>

export const Fraction = ({ over, under }: { readonly over: string; readonly under: string }) => (
  <span className="fraction">
    <span>{over}</span>
    <span className="visually-hidden"> over </span>
    <span>{under}</span>
  </span>
)

/** Rounded down. */
export const Floor = ({ children }: { readonly children: ReactNode }) => (
  <span>
    ⌊<var>{children}</var>⌋
  </span>
)

export const Sum = ({ over }: { readonly over: string }) => (
  <span>
    Σ<sub>{over}</sub>
  </span>
)
