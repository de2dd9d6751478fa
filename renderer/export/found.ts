import { VIEW_TITLES, type ViewId } from '../state/view.ts'
import { domTable } from './dom-table.ts'
import { sourceOf, type TableSource } from './table-source.ts'

/** Something in the shown view that can be saved. */
export type Found =
  | { readonly kind: 'picture'; readonly name: string; readonly element: HTMLCanvasElement | SVGSVGElement }
  | {
      readonly kind: 'table'
      readonly name: string
      readonly element: HTMLTableElement
      readonly source: TableSource
    }

const PICTURES = 'canvas[role="img"], svg[role="img"], .recharts-wrapper > svg'
/** Tables that are a control, or that a pointer brings up. */
const NO_TABLES = '.table-control, .recharts-tooltip-wrapper'

/** The first clause of a label: what it shows, without how it is used. */
const clause = (label: string): string => (/^[^;.:]*/.exec(label)?.[0] ?? label).trim()

const labelOf = (element: Element): string => {
  const own = element.getAttribute('aria-label')
  if (own !== null) return clause(own)
  const caption = element.querySelector(':scope > caption')?.textContent
  if (caption != null) return clause(caption)
  return clause(element.parentElement?.closest('[aria-label]')?.getAttribute('aria-label') ?? '')
}

const isSeen = (element: Element): boolean => {
  const { width, height } = element.getBoundingClientRect()
  return width >= 1 && height >= 1
}

/** Names that tell what they name apart: those that come again are numbered. */
const distinct = <T extends { readonly name: string }>(all: readonly T[]): T[] => {
  const seen = new Map<string, number>()
  return all.map((one) => {
    const count = (seen.get(one.name) ?? 0) + 1
    seen.set(one.name, count)
    return count === 1 ? one : { ...one, name: `${one.name} ${count}` }
  })
}

/** Every picture and table of a view as the page has it now, pictures first. */
export const foundIn = (root: ParentNode, view: ViewId): Found[] => {
  const pictures = Array.from(root.querySelectorAll(PICTURES)).flatMap((element): Found[] =>
    (element instanceof HTMLCanvasElement || element instanceof SVGSVGElement) && isSeen(element)
      ? [{ kind: 'picture', name: labelOf(element) || VIEW_TITLES[view], element }]
      : [],
  )
  const tables = Array.from(root.querySelectorAll('table'))
    .filter((element) => element.closest(NO_TABLES) === null && isSeen(element))
    .map((element): Found => {
      const name = labelOf(element) || `${VIEW_TITLES[view]} table`
      const source = sourceOf(element) ?? { name, read: () => domTable(element) }
      return { kind: 'table', name: source.name, element, source }
    })
  return distinct([...pictures, ...tables])
}

/** The shown view, or nothing before there is one. */
export const shownView = (): Element | null => document.querySelector('.frame-view')

/** What of a view a place in it belongs to: the innermost picture or table around it. */
export const foundAt = (all: readonly Found[], place: Node): Found | undefined =>
  all.reduce<Found | undefined>(
    (best, one) =>
      one.element.contains(place) && (best === undefined || best.element.contains(one.element)) ? one : best,
    undefined,
  )
