import type { ComponentType } from 'react'
import { VIEW_TITLES, type ViewId } from '../state/view.ts'
import { BackendsView } from '../views/backends/BackendsView.tsx'
import { EventsView } from '../views/events/EventsView.tsx'
import { MergeView } from '../views/merge/MergeView.tsx'
import { OwnershipView } from '../views/ownership/OwnershipView.tsx'
import { PostmortemView } from '../views/postmortem/PostmortemView.tsx'
import { RunView } from '../views/run/RunView.tsx'
import { ScenariosView } from '../views/scenarios/ScenariosView.tsx'
import { ThroughputView } from '../views/throughput/ThroughputView.tsx'
import { TimelineView } from '../views/timeline/TimelineView.tsx'
import {
  BackendsIcon,
  EventsIcon,
  MergeIcon,
  OwnershipIcon,
  PostmortemIcon,
  RunIcon,
  ScenariosIcon,
  ThroughputIcon,
  TimelineIcon,
} from './icons.tsx'

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
  { id: 'run', title: VIEW_TITLES.run, icon: RunIcon, digit: 1, component: RunView },
  { id: 'timeline', title: VIEW_TITLES.timeline, icon: TimelineIcon, digit: 2, component: TimelineView },
  { id: 'ownership', title: VIEW_TITLES.ownership, icon: OwnershipIcon, digit: 3, component: OwnershipView },
  { id: 'merge', title: VIEW_TITLES.merge, icon: MergeIcon, digit: 4, component: MergeView },
  {
    id: 'throughput',
    title: VIEW_TITLES.throughput,
    icon: ThroughputIcon,
    digit: 5,
    component: ThroughputView,
  },
  { id: 'backends', title: VIEW_TITLES.backends, icon: BackendsIcon, digit: 6, component: BackendsView },
  {
    id: 'postmortem',
    title: VIEW_TITLES.postmortem,
    icon: PostmortemIcon,
    digit: 7,
    component: PostmortemView,
  },
  { id: 'scenarios', title: VIEW_TITLES.scenarios, icon: ScenariosIcon, digit: 8, component: ScenariosView },
  { id: 'events', title: VIEW_TITLES.events, icon: EventsIcon, digit: 9, component: EventsView },
]
