import type { Service } from '@intake/local'

/**
 * Redis, ClickHouse or S3 as a process that can be killed and frozen. After a kill, it can be
 * started again on the same port and data.
 */
export interface ManagedService {
  name: string
  url(): string
  port(): number
  pid(): number
  running(): boolean
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
}

/**
 * Creates a service without starting it.
 *
 * @param options.launch starts the service on the given port; port 0 selects a free one
 */
export function createManagedService(options: {
  name: string
  launch: (port: number) => Promise<Service>
  /** Called after each start. */
  onStarted?: (service: Service) => Promise<void>
}): ManagedService {
  const { name, launch, onStarted } = options
  let service: Service | undefined
  let running = false
  const current = () => {
    if (service === undefined) throw new Error(`${name} has not been started`)
    return service
  }
  const signal = (wanted: NodeJS.Signals) => {
    if (running) process.kill(current().pid, wanted)
  }

  return {
    name,
    url: () => current().url,
    port: () => current().port,
    pid: () => current().pid,
    running: () => running,
    async start() {
      if (running) return
      const started = await launch(service?.port ?? 0)
      service = started
      running = true
      const noteEnd = async () => {
        await started.exited
        if (service === started) running = false
      }
      void noteEnd()
      await onStarted?.(started)
    },
    async kill() {
      if (!running) return
      current().kill()
      await current().exited
      running = false
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  }
}
