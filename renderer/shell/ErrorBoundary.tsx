import { Component, type ReactNode } from 'react'
import { tell } from '../state/messages.ts'

interface Props {
  /** What failed, for the message. */
  readonly name: string
  readonly children: ReactNode
}

interface State {
  readonly message: string | null
}

/** A view that throws leaves the rest of the window alone and can be tried again. */
export class ErrorBoundary extends Component<Props, State> {
  override readonly state: State = { message: null }

  static getDerivedStateFromError(error: unknown): State {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override componentDidCatch(error: unknown): void {
    tell(
      'error',
      `The ${this.props.name} view failed: ${error instanceof Error ? error.message : String(error)}`,
    )
  }

  override render(): ReactNode {
    const { message } = this.state
    if (message === null) return this.props.children
    return (
      <div className="empty-state" role="alert" data-testid="view-failed">
        <h2>The {this.props.name} view failed</h2>
        <p className="selectable">{message}</p>
        <p>Runs and other views are not touched by this.</p>
        <button type="button" className="button" onClick={() => this.setState({ message: null })}>
          Try again
        </button>
      </div>
    )
  }
}
