import { join } from 'node:path'

export function endpointsFile(dataDir: string): string {
  return join(dataDir, 'endpoints.json')
}
