/** Prints the usage of a command and exits, if `--help` is among its arguments. */
export function printHelp(usage) {
  const { argv } = process
  if (!argv.includes('--help') && !argv.includes('-h')) return
  console.log(usage)
  process.exit()
}
