/** What of an element says whether keys are typed into it. */
type Target = Pick<HTMLElement, 'tagName' | 'isContentEditable'> & { readonly type?: unknown }

const SLIDES = /^(Arrow(Left|Right|Up|Down)|Home|End|Page(Up|Down))$/

/** Whether a field takes this plain key. A slider takes only what moves it: keys go on working after it was dragged. */
export const fieldTakes = ({ tagName, type, isContentEditable }: Target, code: string): boolean => {
  if (tagName === 'INPUT' && type === 'range') return SLIDES.test(code)
  return isContentEditable || ['INPUT', 'SELECT', 'TEXTAREA'].includes(tagName)
}
