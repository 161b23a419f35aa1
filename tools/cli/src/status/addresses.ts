import { placeOfStack, runningStack, UsageError } from '../endpoints.ts'

export interface Address {
  service: 'gateway' | 'worker' | 'console'
  url: string
}

const variables = {
  gateway: 'INTAKE_GATEWAY_ADMIN_URL',
  worker: 'INTAKE_WORKER_ADMIN_URL',
  console: 'INTAKE_CONSOLE_ADMIN_URL',
} as const
const services = ['gateway', 'worker', 'console'] as const

/** Returns the ports that are given, else those of the environment, else those of the stack. */
export async function findAddresses(
  given: Partial<Record<Address['service'], string[]>>,
): Promise<Address[]> {
  const addresses = (urls: (service: Address['service']) => readonly string[]) =>
    services.flatMap((service) => urls(service).map((url) => ({ service, url: origin(url) })))
  const fromOptions = addresses((service) => given[service] ?? [])
  if (fromOptions.length > 0) return fromOptions
  const fromEnvironment = addresses((service) =>
    (process.env[variables[service]] ?? '').split(/[\s,]+/).filter((url) => url !== ''),
  )
  if (fromEnvironment.length > 0) return fromEnvironment
  const stack = await runningStack()
  if (stack !== undefined) {
    const ofStack = {
      gateway: [stack.gatewayAdmin],
      worker: stack.workerAdmins,
      console: [stack.page],
    }
    return addresses((service) => ofStack[service])
  }
  throw new UsageError(
    `There is no --gateway, --worker or --console, ${variables.gateway}, ${variables.worker} and ${variables.console} are ` +
      'not set, and ' +
      `${placeOfStack()} does not exist: start the services there with npm start, set INTAKE_DATA_DIR to their folder, ` +
      'or give the admin ports, such as --worker http://127.0.0.1:3002.',
  )
}

function origin(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`${text} is not the URL of an admin port, such as http://127.0.0.1:3002.`)
  return new URL(text).origin
}
