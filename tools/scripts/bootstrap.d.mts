export const root: string
export function packageFolders(): string[]
