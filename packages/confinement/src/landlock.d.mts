export function obstacles(): {
  files: string | undefined
  network: string | undefined
  systemCalls: string | undefined
}
