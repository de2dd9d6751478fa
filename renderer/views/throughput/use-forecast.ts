import { useDeferredValue, useMemo } from 'react'
import type { Machine } from '../../../app/run/machine.ts'
import type { SweepConfig } from '../../../app/sweep/config.ts'
import type { SweepMachine } from '../../../app/sweep/expand.ts'
import { type Forecast, forecastOf } from '../../../app/sweep/forecast.ts'
import { sweepMachine } from '../../../app/sweep/machine.ts'
import type { Manifest } from '../../../app/trace/manifest.ts'
import { gpuOf } from '../../state/devices.ts'
import { useSession } from '../../state/session.ts'

/** Rates of a sweep that the same device measured, as far as that can be told: GPUs have names. */
const ratesFor = (machine: Machine, { device }: SweepMachine, open: Manifest | undefined) =>
  open?.sweep?.device === device && (device === 'cpu' || open.devices[0]?.name === gpuOf(machine)?.name)
    ? open.sweep.rates
    : undefined

export interface Foretold {
  readonly forecast: Forecast
  readonly machine: SweepMachine
}

/** What the sweep of the form would be on this machine; null while it is wrong or the engine has not looked. */
export const useForecast = (config: SweepConfig | null): Foretold | null => {
  const here = useSession((s) => s.desktop?.machine ?? null)
  const open = useSession((s) => s.openRun?.manifest)
  // Thousands of points take longer than a key press may.
  const asked = useDeferredValue(config)
  return useMemo(() => {
    if (asked === null || here === null) return null
    const { cuda, cpu } = here
    const machine = sweepMachine(asked, { cuda, memoryAvailableBytes: cpu.memoryAvailableBytes })
    return { machine, forecast: forecastOf(asked, machine, ratesFor(here, machine, open)) }
  }, [asked, here, open])
}
