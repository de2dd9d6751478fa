import type { ReactNode } from 'react'

/** Icons of 16 px, drawn with the colour of the text around them. */
const icon = (shape: ReactNode) => () => (
  <svg
    className="icon"
    width="16"
    height="16"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {shape}
  </svg>
)

export const RunIcon = icon(<path d="M5 3.2v9.6l7.6-4.8z" />)
export const TimelineIcon = icon(
  <path d="M2 4h5M9 4h3M4 8h7M13 8h1M2 12h3M7 12h6" strokeWidth="2.2" strokeLinecap="butt" />,
)
export const OwnershipIcon = icon(
  <>
    <path d="M2.5 2.5h11v3h-11zM6.2 2.5v3M9.8 2.5v3" />
    <path d="M4.3 5.5l-1 4.5M8 5.5V10M11.7 5.5l1 4.5" />
    <path d="M2 10.5h3v3H2zM6.5 10.5h3v3h-3zM11 10.5h3v3h-3z" />
  </>,
)
export const PagesIcon = icon(
  <>
    <path d="M2.5 2.5h5v8h-5zM2.5 5.2h5M2.5 7.9h5" />
    <path d="M10 5.5h3.5v8H10zM10 9.5h3.5M7.5 6.5L10 11.5" />
  </>,
)
export const MergeIcon = icon(
  <path d="M2 3h2.5c2 0 2.5 5 5.5 5H14M2 13h2.5c2 0 2.5-5 5.5-5M2 8h6M11.5 5.5L14 8l-2.5 2.5" />,
)
export const ThroughputIcon = icon(
  <>
    <path d="M2.5 2.5v11h11" />
    <path d="M4.5 11c2-6 4.5-7 9-7.5M4.5 11.5c3-2 5-2.5 9-2.5" />
  </>,
)
export const CompareIcon = icon(
  <>
    <path d="M2.5 13.5h11" />
    <path d="M4 13.5v-6h2.5v6M9.5 13.5v-10H12v10M6.5 5l3-2" />
  </>,
)
export const BackendsIcon = icon(
  <>
    <path d="M2.5 2.5h11v11h-11zM2.5 6.2h11M2.5 9.9h11M6.2 2.5v11" />
    <path d="M9 8h1.6M9 11.7h1.6" strokeWidth="1.8" />
  </>,
)
export const PostmortemIcon = icon(
  <>
    <path d="M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.2 10.2l3.6 3.6" />
    <path d="M4.6 7h1.1l.9-1.8 1 3.2.8-1.4h1" />
  </>,
)
export const ScenariosIcon = icon(
  <>
    <path d="M2.5 3h4.5v4.5H2.5zM9 3h4.5v4.5H9z" />
    <path d="M2.5 10h11M2.5 13h7" />
    <path d="M3.6 4.2l2.3 2.1M5.9 4.2L3.6 6.3" />
  </>,
)
export const EventsIcon = icon(
  <>
    <path d="M2.5 13.5h11M4 13.5v-3M6.7 13.5V7M9.3 13.5v-2M12 13.5V9" />
    <path d="M6.7 4.2V1.8M6.7 5.6v.1" strokeWidth="1.8" />
  </>,
)
export const PauseIcon = icon(<path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2" />)
export const PlayIcon = icon(<path d="M5 3.2v9.6l7.6-4.8z" fill="currentColor" />)
export const StopIcon = icon(<path d="M4 4h8v8H4z" fill="currentColor" />)
export const PreviousIcon = icon(<path d="M10 4l-4 4 4 4" />)
export const NextIcon = icon(<path d="M6 4l4 4-4 4" />)
export const BackIcon = icon(<path d="M7 3.5L2.5 8 7 12.5M2.5 8h11" />)
export const ForwardIcon = icon(<path d="M9 3.5L13.5 8 9 12.5M13.5 8h-11" />)
export const DownIcon = icon(<path d="M4 6.5l4 4 4-4" />)
export const CopyIcon = icon(<path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />)
export const DoneIcon = icon(<path d="M3 8.5l3.2 3L13 4.5" />)
export const CloseIcon = icon(<path d="M4 4l8 8M12 4l-8 8" />)
export const FolderIcon = icon(<path d="M2 4.5h4l1.5 1.5H14v7H2z" />)
export const UndoIcon = icon(<path d="M5.5 3L2.5 6l3 3M2.5 6H10a3.5 3.5 0 010 7H6" />)
export const RedoIcon = icon(<path d="M10.5 3l3 3-3 3M13.5 6H6a3.5 3.5 0 000 7h4" />)
export const ResetIcon = icon(<path d="M3 3v3.5h3.5M3.2 6.2A5.3 5.3 0 118 13.3" />)
export const SwapIcon = icon(<path d="M2.5 5.5h10M9.5 2.5l3 3-3 3M13.5 10.5h-10M6.5 7.5l-3 3 3 3" />)
export const ImportIcon = icon(<path d="M8 2.5v7M5 6.5l3 3 3-3M2.5 10.5v3h11v-3" />)
export const PlusIcon = icon(<path d="M8 3.5v9M3.5 8h9" />)
export const RemoveIcon = icon(<path d="M3.5 8h9" />)
export const RailIcon = icon(<path d="M2.5 3h11v10h-11zM6 3v10" />)
export const PanelIcon = icon(<path d="M2.5 3h11v10h-11zM10 3v10" />)
export const CommandIcon = icon(<path d="M3 4.5L6.5 8 3 11.5M8 12h5.5" />)
export const HelpIcon = icon(
  <path d="M8 14A6 6 0 108 2a6 6 0 000 12zM6.2 6.4a1.8 1.8 0 113 1.3c-.7.6-1.2.9-1.2 1.7M8 11.4v.1" />,
)
export const SunIcon = icon(
  <path d="M8 10.8a2.8 2.8 0 100-5.6 2.8 2.8 0 000 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />,
)
export const MoonIcon = icon(<path d="M13 9.6A5.5 5.5 0 016.4 3 5.5 5.5 0 1013 9.6z" />)
export const SystemIcon = icon(<path d="M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3" />)
export const SettingsIcon = icon(
  <>
    <path d="M2.5 4.5h6M12.5 4.5h1M2.5 11.5h1M7.5 11.5h6" />
    <circle cx="10.5" cy="4.5" r="2" />
    <circle cx="5.5" cy="11.5" r="2" />
  </>,
)
export const WarningIcon = icon(<path d="M8 2.2l6 11H2zM8 6.5v3M8 11.4v.1" />)
export const MessageIcon = icon(<path d="M2.5 3h11v7.5H7l-3 2.5v-2.5H2.5z" />)
