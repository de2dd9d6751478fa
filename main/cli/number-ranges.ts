import { badInput } from './failure.ts'

/** Whether a number is among those that `0,4-7` names; `option` is what a complaint calls it. */
export const numberRanges = (option: string, text: string): ((n: number) => boolean) => {
  const ranges = text.split(',').map((part) => {
    const [, from = '', to = from] = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/.exec(part) ?? []
    const range = [Number(from), Number(to)] as const
    if (from === '' || range[0] > range[1])
      throw badInput(`${option}: must be numbers and ranges such as 0,4-7, got ${JSON.stringify(text)}`)
    return range
  })
  return (n) => ranges.some(([from, to]) => n >= from && n <= to)
}
