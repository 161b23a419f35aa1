export function obstacles(): {
  files: string | undefined
  network: string | undefined
  sockets: string | undefined
}
