import { THEME_CHOICES, type ThemeChoice } from '../../app/settings/settings.ts'
import { useSettings } from '../state/settings.ts'
import { useView, viewDigit } from '../state/view.ts'
import { CommandIcon, HelpIcon, MoonIcon, RailIcon, SunIcon, SystemIcon } from './icons.tsx'
import { useLayout } from './layout.ts'
import { VIEWS } from './views.ts'

const THEME_ICON = { system: SystemIcon, light: SunIcon, dark: MoonIcon }
const THEME_NAME: Readonly<Record<ThemeChoice, string>> = {
  system: 'System theme',
  light: 'Light theme',
  dark: 'Dark theme',
}

const THEME_WORD: Readonly<Record<ThemeChoice, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

const nextTheme = (choice: ThemeChoice): ThemeChoice =>
  THEME_CHOICES[(THEME_CHOICES.indexOf(choice) + 1) % THEME_CHOICES.length] ?? 'system'

export const Rail = () => {
  const { view, show } = useView()
  const { railWide, toggleRail, showHelp, helpOpen, showPalette, paletteOpen } = useLayout()
  const choice = useSettings((s) => s.settings.theme)
  const change = useSettings((s) => s.change)
  const ThemeIcon = THEME_ICON[choice]
  return (
    <nav className={railWide ? 'rail' : 'rail rail-narrow'} aria-label="Views">
      {VIEWS.map(({ id, title, icon: Icon }) => (
        <button
          key={id}
          type="button"
          className="rail-item"
          aria-current={view === id ? 'page' : undefined}
          title={viewDigit(id) === null ? title : `${title} (${viewDigit(id)})`}
          data-testid={`view-${id}`}
          onClick={() => show(id)}
        >
          <Icon />
          <span className="rail-word">{title}</span>
        </button>
      ))}
      <span className="rail-gap" />
      <button
        type="button"
        className="rail-item"
        title="Every command (Ctrl+Shift+P)"
        aria-expanded={paletteOpen}
        data-testid="show-palette"
        onClick={() => showPalette(true)}
      >
        <CommandIcon />
        <span className="rail-word">Commands</span>
      </button>
      <button
        type="button"
        className="rail-item"
        title={`${THEME_NAME[choice]}; change to ${THEME_NAME[nextTheme(choice)].toLowerCase()}`}
        data-testid="theme"
        onClick={() => change({ theme: nextTheme(choice) })}
      >
        <ThemeIcon />
        <span className="rail-word">{THEME_WORD[choice]}</span>
      </button>
      <button
        type="button"
        className="rail-item"
        title="Keys and help (?)"
        aria-expanded={helpOpen}
        onClick={() => showHelp(!helpOpen)}
      >
        <HelpIcon />
        <span className="rail-word">Help</span>
      </button>
      <button
        type="button"
        className="rail-item"
        title={railWide ? 'Narrow the rail (Ctrl+B)' : 'Widen the rail (Ctrl+B)'}
        aria-expanded={railWide}
        onClick={toggleRail}
      >
        <RailIcon />
        <span className="rail-word">Narrow</span>
      </button>
    </nav>
  )
}
