import { pickPort } from '@intake/local'

/**
 * Picks different free ports on loopback, which no other process picks before this process ends.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await pickPort())
  return [...ports]
}
