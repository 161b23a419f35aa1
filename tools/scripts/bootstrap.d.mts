export const root: string
export function reachThisMachine(env: NodeJS.ProcessEnv): void
export function packageFolders(): string[]
