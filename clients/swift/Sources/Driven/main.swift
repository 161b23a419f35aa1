// A process with a client. It reads calls from its standard input, one per line as JSON, and writes
// their results to its standard output. It ends when its input ends. With the argument `cost`, it
// measures the CPU time of `log` instead.
import Foundation
import Intake

if CommandLine.arguments.dropFirst().first == "cost" {
  await measureCost()
  exit(0)
}

let driven = Driven()
while let line = readLine() { driven.start(line) }
