import type { ComponentType } from 'react'
import { VIEW_TITLES, type ViewId } from '../state/view.ts'
import { BackendsView } from '../views/backends/BackendsView.tsx'
import { CompareView } from '../views/compare/CompareView.tsx'
import { EventsView } from '../views/events/EventsView.tsx'
import { MergeView } from '../views/merge/MergeView.tsx'
import { OwnershipView } from '../views/ownership/OwnershipView.tsx'
import { PagesView } from '../views/pages/PagesView.tsx'
import { PostmortemView } from '../views/postmortem/PostmortemView.tsx'
import { RunView } from '../views/run/RunView.tsx'
import { ScenariosView } from '../views/scenarios/ScenariosView.tsx'
import { SettingsView } from '../views/settings/SettingsView.tsx'
import { ThroughputView } from '../views/throughput/ThroughputView.tsx'
import { TimelineView } from '../views/timeline/TimelineView.tsx'
import {
  BackendsIcon,
  CompareIcon,
  EventsIcon,
  MergeIcon,
  OwnershipIcon,
  PagesIcon,
  PostmortemIcon,
  RunIcon,
  ScenariosIcon,
  SettingsIcon,
  ThroughputIcon,
  TimelineIcon,
} from './icons.tsx'

export interface View {
  readonly id: ViewId
  readonly title: string
  readonly icon: ComponentType
  readonly component: ComponentType
}

/** The views of the rail, in order. */
export const VIEWS: readonly View[] = [
  { id: 'run', title: VIEW_TITLES.run, icon: RunIcon, component: RunView },
  { id: 'timeline', title: VIEW_TITLES.timeline, icon: TimelineIcon, component: TimelineView },
  { id: 'ownership', title: VIEW_TITLES.ownership, icon: OwnershipIcon, component: OwnershipView },
  { id: 'pages', title: VIEW_TITLES.pages, icon: PagesIcon, component: PagesView },
  { id: 'merge', title: VIEW_TITLES.merge, icon: MergeIcon, component: MergeView },
  { id: 'events', title: VIEW_TITLES.events, icon: EventsIcon, component: EventsView },
  {
    id: 'throughput',
    title: VIEW_TITLES.throughput,
    icon: ThroughputIcon,
    component: ThroughputView,
  },
  { id: 'backends', title: VIEW_TITLES.backends, icon: BackendsIcon, component: BackendsView },
  {
    id: 'postmortem',
    title: VIEW_TITLES.postmortem,
    icon: PostmortemIcon,
    component: PostmortemView,
  },
  { id: 'compare', title: VIEW_TITLES.compare, icon: CompareIcon, component: CompareView },
  { id: 'scenarios', title: VIEW_TITLES.scenarios, icon: ScenariosIcon, component: ScenariosView },
  { id: 'settings', title: VIEW_TITLES.settings, icon: SettingsIcon, component: SettingsView },
]
