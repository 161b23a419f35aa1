import type { GatewayPorts } from '../../../gateway/src/ports.ts'
import type { ObjectStore } from '../object-store.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const timeoutTicks = 80

/** The object store as one gateway uses it. */
export function createAttachments(options: {
  world: World
  process: Process
  objects: ObjectStore
}): GatewayPorts['attachments'] {
  const { world, process, objects } = options
  const { code, network } = world

  const command = (what: string, run: () => void): Promise<void> =>
    network
      .ask<void>({
        from: process,
        to: objects.process,
        what,
        timeoutTicks,
        handle: (answer) => answer(run()),
      })
      .catch(({ message }: Error) => {
        throw new code.contract.IntakeError('storage_unavailable', message)
      })

  return {
    put: ({ key }) => command(`put ${key}`, () => objects.put(key)),
    async remove(keys) {
      await Promise.all(keys.map((key) => command(`remove ${key}`, () => objects.remove(key))))
    },
  }
}
