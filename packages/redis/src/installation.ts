import type { Redis } from './connect.ts'

/** Written once when an installation is set up; its absence means that the data is gone. */
export const installationKey = '{intake}:installation'

export async function readInstallation(redis: Redis): Promise<string | null> {
  return redis.get(installationKey)
}

/** Marks this Redis unless it is marked already; resolves to the mark it has then. */
export async function claimInstallation(redis: Redis, installation: string): Promise<string> {
  return (await redis.set(installationKey, installation, 'NX', 'GET')) ?? installation
}
