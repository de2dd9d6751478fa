import type { Seat } from '../../app/protocol/engine.ts'

/** What a launcher says. */
export interface Launched {
  readonly seat: Seat
  /** The variables that say which rank this is and how many there are. */
  readonly rankName: string
  readonly worldName: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Names that launchers give rank, world size and number on the machine; the first whose rank is set counts. */
const LAUNCHERS = [
  // torchrun, and whoever sets these by hand.
  { rank: 'RANK', world: 'WORLD_SIZE', local: 'LOCAL_RANK' },
  { rank: 'OMPI_COMM_WORLD_RANK', world: 'OMPI_COMM_WORLD_SIZE', local: 'OMPI_COMM_WORLD_LOCAL_RANK' },
  { rank: 'PMI_RANK', world: 'PMI_SIZE', local: 'MPI_LOCALRANKID' },
  { rank: 'SLURM_PROCID', world: 'SLURM_NTASKS', local: 'SLURM_LOCALID' },
] as const

/**
 * The place that the environment gives this process; undefined where no launcher set one. Throws an Error that names
 * the variable at fault.
 */
export const launchedAs = (env: Environment = process.env): Launched | undefined => {
  const names = LAUNCHERS.find(({ rank }) => isSet(env[rank]))
  if (names === undefined) return undefined
  if (!isSet(env[names.world]))
    throw new Error(
      `${names.world} is not set, but ${names.rank} is: set both, or unset ${names.rank} to start all ranks from here`,
    )
  const world = wholeNumber(env, names.world, 1)
  const rank = wholeNumber(env, names.rank, 0)
  if (rank >= world) throw new Error(`${names.rank}: must be below ${names.world} (${world}), got ${rank}`)
  const local = isSet(env[names.local]) ? { localRank: wholeNumber(env, names.local, 0) } : {}
  return {
    seat: { rank, world, ...local, ...meetingPoint(env, world) },
    rankName: names.rank,
    worldName: names.world,
  }
}

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== ''

const wholeNumber = (env: Environment, name: string, least: number): number => {
  const text = env[name]
  const value = /^\s*\d+\s*$/.test(text ?? '') ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value) || value < least)
    throw new Error(`${name}: must be a whole number from ${least}, got ${JSON.stringify(text)}`)
  return value
}

const meetingPoint = (env: Environment, world: number): Pick<Seat, 'address' | 'port'> => {
  if (world === 1) return { address: '127.0.0.1', port: 0 }
  const address = env.MASTER_ADDR
  if (!isSet(address))
    throw new Error(
      'MASTER_ADDR is not set: it must name the machine of rank 0, and MASTER_PORT a free port there',
    )
  if (!isSet(env.MASTER_PORT))
    throw new Error('MASTER_PORT is not set: it must name a free port of the machine in MASTER_ADDR')
  const port = wholeNumber(env, 'MASTER_PORT', 1)
  // There torchrun itself listens at that port.
  const shifted = port + (env.TORCHELASTIC_USE_AGENT_STORE === 'True' ? 1 : 0)
  if (shifted > 65535) throw new Error(`MASTER_PORT: must be at most 65535, got ${shifted}`)
  return { address: address.trim(), port: shifted }
}
