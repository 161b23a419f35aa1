export function fetchPnpm(folder?: string, manifest?: string): string
