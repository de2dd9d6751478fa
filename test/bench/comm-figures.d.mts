export interface Point {
  readonly ranks: number
  readonly comm: 'ag_rs' | 'a2a' | 'p2p'
  readonly wireDtype: 'out' | 'fp32'
  readonly replicateQ: boolean
  /** Query tokens of the batch. */
  readonly tokens: number
  /** Heads that a rank's kernel sees. */
  readonly heads: number
}

/** A span as a query of the bundle gives it; ns on the clock of the run, null where it is no collective. */
export interface Span {
  readonly rank: number
  readonly step: number
  readonly layer: number
  readonly stage: string
  readonly start_ns: number
  readonly dur_ns: number
  readonly bytes: number
  readonly enter_ns: number | null
  readonly last_enter_ns: number | null
}

export interface Spread {
  readonly median: number
  readonly p10: number
  readonly p90: number
  readonly samples: number
}

export interface Figures extends Point {
  readonly exchange: {
    /** From begin to end without waiting, of the slowest rank of each layer. */
    readonly us: Spread
    readonly waitUs: Spread
    /** Of the rank that took least, with all its waiting: that of the last one to come, by its own clock alone. */
    readonly ownClockUs: Spread
    /** That one rank receives. */
    readonly bytes: number
    readonly gbPerS: number
  }
  readonly totalUs: number
  readonly stages: Readonly<
    Record<
      string,
      {
        readonly us: Spread
        readonly slowestUs: Spread
        readonly waitUs: Spread
        /** That one rank receives in a layer; 0 of work between collectives. */
        readonly bytes: number
      }
    >
  >
}

/** As in `collectives` of a sweep. */
export interface Timing {
  readonly collective: string
  readonly ranks: number
  readonly bytes: number
  readonly us: number
}

export interface Comparison {
  readonly ranks: number
  readonly tokens: number
  readonly replicateQ: boolean
  readonly p2pUs: number
  readonly bestNccl: string
  readonly bestNcclUs: number
  readonly ratio: number
  readonly ownClockRatio: number
  readonly totalRatio: number
}

export interface KernelTime {
  readonly name: string
  readonly tokens: number
  readonly us: number
  readonly stampedUs: number
}

export const EXCHANGE_STAGES: Readonly<Record<Point['comm'], readonly string[]>>
export const stagesOf: (comm: Point['comm']) => readonly string[]
export const spreadOf: (values: readonly number[]) => Spread | null
export const figuresOf: (point: Point, spans: readonly Span[]) => Figures
export const compare: (figures: readonly Figures[]) => readonly Comparison[]
export const timingsOf: (figures: readonly Figures[]) => readonly Timing[]
export const kernelsOf: (text: string) => readonly KernelTime[]
export const tableOf: (figures: readonly Figures[], comparisons: readonly Comparison[]) => string
