export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').slice(0, -1)
}

export function isoTime(printed: string): string {
  return `${printed.replace(' ', 'T')}Z`
}
