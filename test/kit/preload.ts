// This module is loaded into a gateway or worker before its own code. It follows the orders that
// the process gets on standard input.
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createInterface } from 'node:readline'
import zlib from 'node:zlib'

export interface Order {
  /** From this order on, the wall clock is off by this much. Monotonic clocks are not affected. */
  clockOffMs?: number
  /** Blocks the event loop for as long as this file exists. */
  busyWhile?: string
  /** While true, compressing a frame throws an error of a kind that a gateway does not expect. */
  framingFails?: boolean
}

const RealDate = Date
const realNow = Date.now
let offMs = 0
const names = ['gzipSync', 'zstdCompressSync'].filter((name) => name in zlib)
const planted = (): never => {
  throw new Error('planted')
}
const working = Object.fromEntries(names.map((name) => [name, Reflect.get(zlib, name)]))
const failing = Object.fromEntries(names.map((name) => [name, planted]))

RealDate.now = () => realNow() + offMs
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], derived) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, derived) as Date,
  apply: () => new Date().toString(),
})

createInterface(process.stdin).on('line', (line) => {
  const order = JSON.parse(line) as Order
  offMs = order.clockOffMs ?? offMs
  if (order.framingFails !== undefined) {
    Object.assign(zlib, order.framingFails ? failing : working)
    syncBuiltinESMExports()
  }
  while (order.busyWhile !== undefined && existsSync(order.busyWhile));
})
