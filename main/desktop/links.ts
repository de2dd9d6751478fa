/** Of Electron's app, what is needed to hear of links. */
interface LinkSource {
  on(event: 'open-url', listener: (event: { preventDefault(): void }, url: string) => void): unknown
}

/** Scheme of links to places in the app. The page reads and checks them; they name no paths. */
export const LINK_SCHEME = 'dcpscope'

/** The same limit stands in renderer/state/link.ts. */
const MOST_CHARACTERS = 4000

export const isLink = (text: string): boolean => text.toLowerCase().startsWith(`${LINK_SCHEME}:`)

/** Links that a command line names, as far as they are of one line and bounded. */
export const linkArguments = (argv: readonly string[]): string[] =>
  argv.filter((text) => isLink(text) && text.length <= MOST_CHARACTERS && /^[\x21-\x7e]+$/.test(text))

/** Hands links on that the system gives to the app, also one that comes before anybody listens. */
export const linksOfSystem = (app: LinkSource): ((listener: (link: string) => void) => void) => {
  const early: string[] = []
  let take = (link: string): void => void early.push(link)
  app.on('open-url', (event, url) => {
    event.preventDefault()
    for (const link of linkArguments([url])) take(link)
  })
  return (listener) => {
    take = listener
    for (const link of early.splice(0)) listener(link)
  }
}
