// Health check of the containers: exit code 0 while the process serves. It asks for liveness and not
// for readiness, because a restart does not bring a missing Redis back: a gateway without one
// answers 503 and recovers by itself.
const { ADMIN_HOST, GATEWAY_ADMIN_PORT, WORKER_ADMIN_PORT } = process.env
const everyAddress = [undefined, '', '0.0.0.0', '::']
const host = everyAddress.includes(ADMIN_HOST) ? '127.0.0.1' : ADMIN_HOST
const authority = `${host.includes(':') ? `[${host}]` : host}:${GATEWAY_ADMIN_PORT ?? WORKER_ADMIN_PORT}`
const response = await fetch(`http://${authority}/healthz`, {
  signal: AbortSignal.timeout(3_000),
})
process.exitCode = response.ok ? 0 : 1
