/** Prints the usage of a command and exits, if the arguments contain `--help` or `-h`. */
export function printHelp(usage) {
  const { argv } = process
  if (!argv.includes('--help') && !argv.includes('-h')) return
  console.log(usage)
  process.exit()
}
