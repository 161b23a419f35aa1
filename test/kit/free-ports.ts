import { pickPort } from '@intake/local'

/**
 * Picks different free ports on loopback. No other process gets these ports from `pickPort` before
 * this process ends.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await pickPort())
  return [...ports]
}
