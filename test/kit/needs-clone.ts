import { existsSync } from 'node:fs'

const isClone = existsSync(new URL('../../.git', import.meta.url))

/** For tests that ask git: an archive of the sources has no repository. */
export const needsClone = { skip: isClone ? false : 'the sources are no clone' } as const
