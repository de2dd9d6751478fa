import type { ComponentType } from 'react'
import type { ViewId } from '../state/view.ts'
import { MergeView } from '../views/merge/MergeView.tsx'
import { OwnershipView } from '../views/ownership/OwnershipView.tsx'
import { RunView } from '../views/run/RunView.tsx'
import { ThroughputView } from '../views/throughput/ThroughputView.tsx'
import { TimelineView } from '../views/timeline/TimelineView.tsx'
import { MergeIcon, OwnershipIcon, RunIcon, ThroughputIcon, TimelineIcon } from './icons.tsx'

export interface View {
  readonly id: ViewId
  readonly title: string
  readonly icon: ComponentType
  /** Key that shows it. */
  readonly digit: number
  readonly component: ComponentType
}

/** The views of the rail, in order. */
export const VIEWS: readonly View[] = [
  { id: 'run', title: 'Run', icon: RunIcon, digit: 1, component: RunView },
  { id: 'timeline', title: 'Timeline', icon: TimelineIcon, digit: 2, component: TimelineView },
  { id: 'ownership', title: 'Ownership', icon: OwnershipIcon, digit: 3, component: OwnershipView },
  { id: 'merge', title: 'Merge', icon: MergeIcon, digit: 4, component: MergeView },
  { id: 'throughput', title: 'Throughput', icon: ThroughputIcon, digit: 5, component: ThroughputView },
]
