export function findEngine(machine: {
  platform: string
  arch: string
  path: string
  lock: string
  isPublished(spec: string): boolean
}):
  | { kind: 'locked' }
  | { kind: 'installed'; name: string; version: string }
  | { kind: 'program'; path: string }
