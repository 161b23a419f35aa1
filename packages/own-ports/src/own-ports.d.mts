export function connectOnlyToOwnUser(ports?: string): void
