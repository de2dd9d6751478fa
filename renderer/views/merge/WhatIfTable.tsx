import { useMemo } from 'react'
import type { CaptureShape, MergeInput, MergeModel } from './model.ts'
import { sciText } from './Verdicts.tsx'
import { WeightBar } from './WeightBar.tsx'
import { whatIfs } from './what-if.ts'

interface Props {
  readonly input: MergeInput
  readonly capture: CaptureShape
  readonly model: MergeModel
}

/** What a wrong base, a rank without a say or no lse at all would have made of these very partials. */
export const WhatIfTable = ({ input, capture, model }: Props) => {
  const all = useMemo(() => whatIfs(input, capture, model), [input, capture, model])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys
    <section className="merge-scroll" aria-label="What mistakes would make of it" tabIndex={0}>
      {all.length === 0 ? (
        <p className="merge-note">One rank alone: there is nothing to merge, and nothing to get wrong.</p>
      ) : (
        <table className="merge-what-if" data-testid="merge-what-if">
          <caption className="merge-note">
            The same partials, merged here with one mistake: weights, and the error against the right merge
          </caption>
          <thead>
            <tr>
              <th scope="col">mistake</th>
              <th scope="col">weights</th>
              <th scope="col" className="num">
                relative error
              </th>
              <th scope="col" />
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">none</th>
              <td>
                <WeightBar weights={model.ranks.map(({ weight }) => weight)} />
              </td>
              <td className="num">0</td>
              <td />
            </tr>
            {all.map(({ text, weights, error, isEngine, mistake }) => (
              <tr
                key={text}
                data-testid={`merge-if-${mistake.kind}${'rank' in mistake ? `-${mistake.rank}` : ''}`}
              >
                <th scope="row">{text}</th>
                <td>
                  <WeightBar weights={weights} />
                </td>
                <td className={Number.isNaN(error.relative) ? 'num merge-nan' : 'num'}>
                  {sciText(error.relative)}
                </td>
                <td>{isEngine ? <span className="badge badge-bad">what the engine gave</span> : null}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
