import { describe, expect, it } from 'vitest'
import { launchedAs } from '../../../main/ranks/seat.ts'

const meeting = { MASTER_ADDR: 'node-1', MASTER_PORT: '29500' }

describe('the place of a process among those that a launcher started', () => {
  it.each([
    ['torchrun', { RANK: '2', WORLD_SIZE: '4', LOCAL_RANK: '0' }],
    ['mpirun', { OMPI_COMM_WORLD_RANK: '2', OMPI_COMM_WORLD_SIZE: '4', OMPI_COMM_WORLD_LOCAL_RANK: '0' }],
    ['mpiexec', { PMI_RANK: '2', PMI_SIZE: '4', MPI_LOCALRANKID: '0' }],
    ['srun', { SLURM_PROCID: '2', SLURM_NTASKS: '4', SLURM_LOCALID: '0' }],
  ])('is what %s says', (_name, env) => {
    expect(launchedAs({ ...env, ...meeting })).toEqual({
      seat: { rank: 2, world: 4, localRank: 0, address: 'node-1', port: 29500 },
      rankName: Object.keys(env)[0],
      worldName: Object.keys(env)[1],
    })
  })

  it('is none where no launcher speaks, also with empty variables', () => {
    expect(launchedAs({})).toBeUndefined()
    expect(launchedAs({ ...meeting, RANK: '', WORLD_SIZE: '4', SLURM_NTASKS: '8' })).toBeUndefined()
  })

  it('is that of the launcher nearest to the process where several speak', () => {
    const srun = { SLURM_PROCID: '0', SLURM_NTASKS: '1' }
    expect(launchedAs({ ...meeting, ...srun, PMI_RANK: '3', PMI_SIZE: '4' })?.seat.rank).toBe(3)
    expect(launchedAs({ ...meeting, ...srun, RANK: '1', WORLD_SIZE: '2' })?.seat.rank).toBe(1)
  })

  it('leaves the port to the store of torchrun where that has it', () => {
    const env = { ...meeting, RANK: '0', WORLD_SIZE: '2' }
    expect(launchedAs({ ...env, TORCHELASTIC_USE_AGENT_STORE: 'False' })?.seat.port).toBe(29500)
    expect(launchedAs({ ...env, TORCHELASTIC_USE_AGENT_STORE: 'True' })?.seat.port).toBe(29501)
  })

  it('needs no meeting point for one rank', () => {
    expect(launchedAs({ RANK: '0', WORLD_SIZE: '1' })).toEqual({
      seat: { rank: 0, world: 1, address: '127.0.0.1', port: 0 },
      rankName: 'RANK',
      worldName: 'WORLD_SIZE',
    })
  })

  it.each([
    [{ RANK: '-1', WORLD_SIZE: '4' }, 'RANK: must be a whole number from 0, got "-1"'],
    [{ RANK: '1e0', WORLD_SIZE: '4' }, 'RANK: must be a whole number from 0, got "1e0"'],
    [
      { RANK: '0', WORLD_SIZE: '9'.repeat(20) },
      `WORLD_SIZE: must be a whole number from 1, got "${'9'.repeat(20)}"`,
    ],
    [
      { PMI_RANK: '0' },
      'PMI_SIZE is not set, but PMI_RANK is: set both, or unset PMI_RANK to start all ranks from here',
    ],
    [{ RANK: '0.5', WORLD_SIZE: '4' }, 'RANK: must be a whole number from 0, got "0.5"'],
    [{ RANK: '0', WORLD_SIZE: '0' }, 'WORLD_SIZE: must be a whole number from 1, got "0"'],
    [{ RANK: '0', WORLD_SIZE: '2', LOCAL_RANK: 'x' }, 'LOCAL_RANK: must be a whole number from 0, got "x"'],
    [
      { RANK: '0', WORLD_SIZE: '2', MASTER_PORT: 'http' },
      'MASTER_PORT: must be a whole number from 1, got "http"',
    ],
    [{ RANK: '0', WORLD_SIZE: '2', MASTER_PORT: '70000' }, 'MASTER_PORT: must be at most 65535, got 70000'],
  ])('is refused by the name of the variable in %j', (env, says) => {
    expect(() => launchedAs({ ...meeting, ...env })).toThrow(says)
  })
})
