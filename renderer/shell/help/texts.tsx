import type { ReactNode } from 'react'
import { Term } from '../../controls/Term.tsx'
import type { ViewId } from '../../state/view.ts'
import { Floor, Fraction, Sum, V } from './Formula.tsx'

/** What a view shows, in a few sentences, and the formula that it draws. */
export interface ViewText {
  readonly text: ReactNode
  readonly formulas: readonly { readonly says: string; readonly formula: ReactNode }[]
}

/** Letters that stand in several formulas. */
export const LETTERS: readonly (readonly [string, ReactNode])[] = [
  ['t', 'token of a request, from 0'],
  ['L', 'length of a request'],
  ['r', <Term key="r" id="rank" />],
  ['c', <Term key="c" id="dcpSize" />],
  ['I', <Term key="I" id="interleave" />],
  ['P', 'page size'],
  ['b', <Term key="b" id="base" />],
]

const MERGED = (
  <>
    <V>LSE</V> = log<sub>b</sub> <Sum over="r" /> <V>b</V>
    <sup>lse(r)</sup>
  </>
)

const WEIGHT = (
  <>
    <V>w</V>(r) = <V>b</V>
    <sup>lse(r) − LSE</sup>, <Sum over="r" /> <V>w</V>(r) = 1
  </>
)

const OUT = (
  <>
    <V>out</V> = <Sum over="r" /> <V>w</V>(r) · <V>out</V>(r)
  </>
)

export const VIEW_TEXTS: Readonly<Record<ViewId, ViewText>> = {
  run: {
    text: (
      <>
        A form for the whole configuration, checked while you type, and beside it what it comes to:{' '}
        <Term id="head">heads</Term> of each <Term id="rank" />, <Term id="localLength">local lengths</Term>,{' '}
        <Term id="page">pages</Term> and memory. Start it, and the rate of each <Term id="step" /> and the
        share of each stage stand here while it goes on.
      </>
    ),
    formulas: [
      {
        says: 'Heads that a rank sees',
        formula: (
          <>
            <V>H</V> = <Fraction over="heads · dcp size" under="tp size" />
          </>
        ),
      },
      {
        says: 'Rate',
        formula: (
          <>
            tokens/s = <Fraction over="accepted tokens of a step" under="time of the step" />
          </>
        ),
      },
    ],
  },
  timeline: {
    text: (
      <>
        A lane for each <Term id="rank" />, a span for each stage, coloured by what it does: compute blue,
        communication orange, <Term id="merge" /> purple. In a <Term id="collective" /> the hatched part is{' '}
        <Term id="wait" /> for the last rank, the rest is <Term id="transfer" />. The rank that is never
        hatched is the slow one; lines lead from it to those that wait. K shows the <Term id="criticalPath" />{' '}
        of the selected step and names its slowest rank, T counts the spans of any part, by stage or by rank,
        and names the rank that made the others wait.
      </>
    ),
    formulas: [
      { says: 'Waiting', formula: 'time at which the last rank came − time at which this one came' },
      { says: 'Transfer', formula: 'end − time at which the last rank came' },
    ],
  },
  ownership: {
    text: (
      <>
        Which <Term id="rank" /> keeps which token of a request. Blocks of <Term id="interleave" /> tokens go
        to the ranks in turn; the strip above is the request, the shards below are what each rank keeps. On
        the ring a turn deals a block to every rank, so that each keeps its sector and grows outwards in turn.
        Point at a token to see its <Term id="localIndex" />, <Term id="virtualPage" />, <Term id="page" />{' '}
        and <Term id="slot" />. Lights say whether what the ranks counted sums to the length, grows in turn,
        and holds every token once, and lead to the one that breaks it: of a run, or of a dump that
        Post-mortem shows.
      </>
    ),
    formulas: [
      {
        says: 'Owner of a token',
        formula: (
          <>
            <V>r</V> = <Floor>t / I</Floor> mod <V>c</V>
          </>
        ),
      },
      {
        says: 'Local index',
        formula: (
          <>
            <Floor>t / (c · I)</Floor> · <V>I</V> + <V>t</V> mod <V>I</V>
          </>
        ),
      },
      {
        says: 'Local length',
        formula: (
          <>
            <Floor>L / (c · I)</Floor> · <V>I</V> + clamp(<V>L</V> mod (<V>c</V> · <V>I</V>) − <V>r</V> ·{' '}
            <V>I</V>, 0, <V>I</V>)
          </>
        ),
      },
    ],
  },
  pages: {
    text: (
      <>
        The <Term id="blockTable" /> of a <Term id="rank" /> beside its <Term id="pool" /> of pages. A{' '}
        <Term id="virtualPage">column</Term> covers page size times <Term id="dcpSize" /> tokens of a request,
        so all ranks share one table and only how many columns count differs. Lights say whether what must
        hold does, and lead to the first cell that breaks it.
      </>
    ),
    formulas: [
      {
        says: 'Column of a token',
        formula: (
          <>
            <Floor>t / (P · c)</Floor>
          </>
        ),
      },
      {
        says: 'Slot of a token on its owner',
        formula: (
          <>
            page · <V>P</V> + local index mod <V>P</V>
          </>
        ),
      },
    ],
  },
  merge: {
    text: (
      <>
        How one <Term id="row" /> and <Term id="head" /> was <Term id="merge">merged</Term> in a captured{' '}
        <Term id="step" />: the <Term id="lse" /> of each rank's <Term id="partial" />, the{' '}
        <Term id="weight" /> that it gives, and the merged vector with its error against the{' '}
        <Term id="reference" />. The map has a cell for every row and head: its error, or the weights of the
        ranks stacked, which says where the mass sits.
      </>
    ),
    formulas: [
      { says: 'Merged LSE', formula: MERGED },
      { says: 'Weights', formula: WEIGHT },
      { says: 'Output', formula: OUT },
    ],
  },
  events: {
    text: (
      <>
        What is worth a look in a run: NaN, infinities, <Term id="row">rows</Term> without keys, wrong merged
        rows. The first cause is the earliest place from which bad values can come: a rank's{' '}
        <Term id="partial" />, or the <Term id="merge" />. One bad partial makes the whole row bad, as its
        weight is not a number.
      </>
    ),
    formulas: [{ says: 'Why NaN spreads', formula: OUT }],
  },
  throughput: {
    text: (
      <>
        Tokens per second over <Term id="context" /> and <Term id="concurrency" /> for <Term id="tp" /> and
        for each size and transport of <Term id="dcp" />. The map says where DCP pays and how sure that is;
        curves show the rates and, dashed, what the cost model predicts; a <Term id="crossover" /> is where
        DCP passes TP. Other pictures: latency against throughput with its <Term id="front" />, the parts of a
        step, the <Term id="roofline" /> of the device, and what the KV pools hold. New sweep sets one up and
        says what it would be; Pause keeps what was measured, and Resume goes on, also after a restart.
      </>
    ),
    formulas: [
      {
        says: 'Gain',
        formula: (
          <>
            <Fraction over="tokens/s of the best DCP" under="tokens/s of TP" />
          </>
        ),
      },
      {
        says: 'Time a token, for a user',
        formula: (
          <>
            <Fraction over="requests that run at once" under="tokens/s" />
          </>
        ),
      },
      { says: 'Roof', formula: <>min(matrix rate, bandwidth · operations / bytes)</> },
    ],
  },
  backends: {
    text: (
      <>
        What serving back-ends do with a configuration: accept, refuse, or run it with something else in its
        place. Each verdict is that of a <Term id="guard" /> with its reason and source; the first line is the
        configuration of the form in Run.
      </>
    ),
    formulas: [],
  },
  postmortem: {
    text: (
      <>
        The cause of a bad output, from tensor <Term id="dump">dumps</Term> alone: each finding says what
        speaks for it and how much of the error it accounts for. The tensors are shown as maps, a{' '}
        <Term id="rank" /> beside the other, down to single values.
      </>
    ),
    formulas: [
      {
        says: 'Explained',
        formula: (
          <>
            1 − <Fraction over="error that is left once the fault is undone" under="error" />
          </>
        ),
      },
    ],
  },
  compare: {
    text: (
      <>
        Two runs or two dumps side by side: what differs in their configuration, the first <Term id="step" />,
        layer, <Term id="row" /> and <Term id="head" /> at which their numbers part by more than rounding, and
        which stage of which <Term id="rank" /> takes longer. Whether that is more than chance says Wilcoxon's
        signed-rank test of the same steps of both, corrected for the number of rows. Steps of one run are no
        repeats of it: other runs of the same configuration tell what differs from run to run.
      </>
    ),
    formulas: [
      { says: 'Difference of a stage', formula: 'middle of the pairwise means of B − A of the same step' },
      { says: 'B / A', formula: <Fraction over="median of B" under="median of A" /> },
    ],
  },
  scenarios: {
    text: (
      <>
        Known failures of serving engines. Each runs broken and fixed on the engine here, with the fault where
        the real one sat; then see what it does to <Term id="partial">partials</Term> and to the{' '}
        <Term id="merge">merged</Term> output, and have it diagnosed.
      </>
    ),
    formulas: [],
  },
  settings: {
    text: 'Colours, how numbers are written, and limits. They hold at once, for all runs, and at later starts.',
    formulas: [],
  },
}
