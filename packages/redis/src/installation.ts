import type { Redis } from './connect.ts'

/** Written once when an installation is set up. If it is missing, Redis has lost its data. */
export const installationKey = '{intake}:installation'

export async function readInstallation(redis: Redis): Promise<string | null> {
  return redis.get(installationKey)
}

/** Marks this Redis unless it is already marked; resolves to its mark. */
export async function claimInstallation(redis: Redis, installation: string): Promise<string> {
  return (await redis.set(installationKey, installation, 'NX', 'GET')) ?? installation
}
