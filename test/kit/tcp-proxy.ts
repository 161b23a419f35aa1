import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { reset } from './reset.ts'

/** Faults of a network, in both directions unless a field says otherwise. */
export interface Network {
  latencyMs?: number
  jitterMs?: number
  /**
   * Holds all bytes to the server until the network is healed. To both ends, this looks like a
   * network that loses every packet.
   */
  holdRequests?: boolean
  holdAnswers?: boolean
  /** Requests pass; the first response is dropped and the connection cut. */
  dropAnswers?: boolean
  /** Requests pass; responses are dropped, and the connection remains open. */
  swallowAnswers?: boolean
  /** Every new connection is reset. */
  refuse?: boolean
  /** The connection is cut after this many bytes to the server. */
  cutAfterBytes?: number
  /** The probability that a chunk of data causes its connection to be cut. */
  cutRate?: number
}

export interface TcpProxy {
  port: number
  /** Changes the network at once, for open connections too. Without an argument, heals it. */
  set(network?: Network): void
  /** The number of connections whose requests `holdRequests` holds now. */
  requestsHeld(): number
  /** Closes every open connection, with a reset if possible. */
  cut(): void
  /** Redirects new connections to another port. */
  redirect(port: number): void
  close(): Promise<void>
}

export const blackHole: Network = { holdRequests: true, holdAnswers: true }

const chunksHeldMax = 64

/** Starts a TCP proxy on loopback that simulates network faults. */
export async function startTcpProxy(options: {
  target: number
  random: () => number
}): Promise<TcpProxy> {
  const { random } = options
  let { target } = options
  let network: Network = {}
  let healed = deferred()
  let requestsHeld = 0
  const open = new Set<Socket>()

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const resetBoth = () => {
      reset(client)
      if (upstream) reset(upstream)
    }
    let upstream: Socket | undefined
    track(client, resetBoth)
    if (network.refuse) return resetBoth()
    upstream = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true, noDelay: true })
    track(upstream, resetBoth)
    const carried = { bytes: 0 }
    pump({ from: client, to: upstream, answers: false, resetBoth, carried })
    pump({ from: upstream, to: client, answers: true, resetBoth, carried })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function track(socket: Socket, resetBoth: () => void): void {
    open.add(socket)
    socket.on('error', resetBoth)
    socket.on('close', () => open.delete(socket))
  }

  function pump(pipe: {
    from: Socket
    to: Socket
    answers: boolean
    resetBoth: () => void
    carried: { bytes: number }
  }): void {
    const { from, to, answers, resetBoth, carried } = pipe
    let tail = Promise.resolve()
    let queued = 0

    async function carry(chunk: Buffer | undefined, dueAt: number): Promise<void> {
      const wait = dueAt - performance.now()
      if (wait > 0) await pause(wait)
      while ((answers ? network.holdAnswers : network.holdRequests) && !to.destroyed) {
        if (!answers) requestsHeld++
        await Promise.race([healed.promise, once(to, 'close')])
        if (!answers) requestsHeld--
      }
      if (to.destroyed) return
      if (chunk === undefined) return void to.end()
      if (answers && network.dropAnswers) return resetBoth()
      if (answers && network.swallowAnswers) return
      if (network.cutRate !== undefined && random() < network.cutRate) return resetBoth()
      const { cutAfterBytes = Infinity } = network
      if (!answers) carried.bytes += chunk.length
      if (!to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')])
      if (carried.bytes > cutAfterBytes) resetBoth()
    }

    function schedule(chunk: Buffer | undefined): void {
      const { latencyMs = 0, jitterMs = 0 } = network
      const dueAt = performance.now() + latencyMs + (random() * 2 - 1) * jitterMs
      if (++queued >= chunksHeldMax) from.pause()
      tail = tail
        .then(() => carry(chunk, dueAt))
        .catch(resetBoth)
        .finally(() => {
          if (--queued < chunksHeldMax) from.resume()
        })
    }
    from.on('data', schedule)
    from.on('end', () => schedule(undefined))
    from.on('close', (failed: boolean) => failed && resetBoth())
  }

  return {
    port: (server.address() as AddressInfo).port,
    set(next = {}) {
      network = next
      healed.resolve()
      healed = deferred()
    },
    requestsHeld: () => requestsHeld,
    cut() {
      for (const socket of open) reset(socket)
    },
    redirect(port) {
      target = port
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
