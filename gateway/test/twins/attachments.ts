import type { StoredObject } from '@intake/object-store'
import type { GatewayPorts } from '../../src/ports.ts'

export function createMemoryAttachments(
  objects: Map<string, StoredObject>,
): GatewayPorts['attachments'] {
  return {
    async put(object) {
      objects.set(object.key, object)
    },
    async remove(keys) {
      for (const key of keys) objects.delete(key)
    },
  }
}
