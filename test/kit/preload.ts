// Loaded into a gateway or worker before its own code: follows the orders on standard input.
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface Order {
  /** The offset of the wall clock from now on. Monotonic clocks stay right. */
  clockOffMs?: number
  /** Blocks the event loop for as long as this file exists. */
  busyWhile?: string
}

const RealDate = Date
const realNow = Date.now
let offMs = 0

RealDate.now = () => realNow() + offMs
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], derived) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, derived) as Date,
  apply: () => new Date().toString(),
})

createInterface(process.stdin).on('line', (line) => {
  const order = JSON.parse(line) as Order
  offMs = order.clockOffMs ?? offMs
  while (order.busyWhile !== undefined && existsSync(order.busyWhile));
})
