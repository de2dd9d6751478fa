/** Of Electron's app, what is needed to hear of links and files that the system hands over. */
interface OpenSource {
  on(
    event: 'open-url' | 'open-file',
    listener: (event: { preventDefault(): void }, text: string) => void,
  ): unknown
}

/** Hands on what the system gives to the app by an event, also what comes before anybody listens. */
const handedBySystem = (
  app: OpenSource,
  event: 'open-url' | 'open-file',
  accepted: (text: string) => readonly string[],
): ((listener: (text: string) => void) => void) => {
  const early: string[] = []
  let take = (text: string): void => void early.push(text)
  app.on(event, (of, text) => {
    of.preventDefault()
    for (const one of accepted(text)) take(one)
  })
  return (listener) => {
    take = listener
    for (const one of early.splice(0)) listener(one)
  }
}

/** Scheme of links to places in the app. The page reads and checks them; they name no paths. */
export const LINK_SCHEME = 'dcpscope'

/** The same limit stands in renderer/state/link.ts. */
const MOST_CHARACTERS = 4000

export const isLink = (text: string): boolean => text.toLowerCase().startsWith(`${LINK_SCHEME}:`)

/** Links that a command line names, as far as they are of one line and bounded. */
export const linkArguments = (argv: readonly string[]): string[] =>
  argv.filter((text) => isLink(text) && text.length <= MOST_CHARACTERS && /^[\x21-\x7e]+$/.test(text))

/** Links that the system gives to the app. */
export const linksOfSystem = (app: OpenSource): ((listener: (link: string) => void) => void) =>
  handedBySystem(app, 'open-url', (url) => linkArguments([url]))

/** Paths of bundles that a person opened in the file manager of macOS; other systems name them on the command line. */
export const pathsOfSystem = (app: OpenSource): ((listener: (path: string) => void) => void) =>
  handedBySystem(app, 'open-file', (path) => (path === '' ? [] : [path]))
