import { pickPort } from '@intake/local'

/** Different free ports on loopback, which no other process picks before this one ends. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await pickPort())
  return [...ports]
}
