import { cpus } from 'node:os'

/** The processor as the system names it. */
export const cpuName = (): string => cpus()[0]?.model.trim() || 'CPU'
