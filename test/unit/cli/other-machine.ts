import { type ChildProcess, execFileSync, spawn } from 'node:child_process'

/**
 * Another machine as far as processes can tell: a network, a clock, a shared memory and a name of its own, on the same
 * system. A cable joins it to this one.
 */
export class OtherMachine {
  /** What runs a program there. */
  readonly through: readonly string[]
  /** This machine, as seen from there. */
  readonly address: string
  /** Names of the ends of the cable, here and there. */
  readonly interfaces: readonly [string, string]
  readonly #holder: ChildProcess

  private constructor(holder: ChildProcess, cable: string, address: string, through: readonly string[]) {
    this.#holder = holder
    this.interfaces = [cable, 'there']
    this.address = address
    this.through = through
  }

  static async start(): Promise<OtherMachine> {
    const setUp =
      'mount -t tmpfs tmpfs /dev/shm && hostname node-2 && ip link set lo up && echo up && exec sleep 600'
    const namespaces = [
      '--net',
      '--mount',
      '--uts',
      '--time',
      '--monotonic',
      '5000',
      '--fork',
      '--kill-child',
    ]
    const holder = spawn('unshare', [...namespaces, 'sh', '-c', setUp], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => holder.stdout?.once('data', resolve))
    const inside = execFileSync('pgrep', ['-P', `${holder.pid}`], { encoding: 'utf8' }).trim()
    const through = ['nsenter', '-t', inside, '--net', '--mount', '--uts', '--time']
    const [cable, net] = [`dcp${process.pid}`, `10.${process.pid % 250}.${(process.pid >> 8) % 250}`]
    const ip = (args: string, within: readonly string[] = []): void => {
      const [program = 'ip', ...rest] = [...within, 'ip', ...args.split(' ')]
      execFileSync(program, rest)
    }
    ip(`link add ${cable} type veth peer name there netns ${inside}`)
    ip(`addr add ${net}.1/24 dev ${cable}`)
    ip(`link set ${cable} up`)
    ip(`addr add ${net}.2/24 dev there`, through)
    ip('link set there up', through)
    return new OtherMachine(holder, cable, `${net}.1`, through)
  }

  /** From now on nothing comes through, and nobody is told. */
  cut(): void {
    execFileSync('ip', ['link', 'set', this.interfaces[0], 'down'])
  }

  mend(): void {
    execFileSync('ip', ['link', 'set', this.interfaces[0], 'up'])
  }

  end(): void {
    this.#holder.kill('SIGKILL')
  }
}
