// Health check of the containers: exits with 0 while the process is live. It checks liveness, not
// readiness: a gateway without Redis responds with 503 and recovers by itself, and restarting the
// gateway would not bring Redis back.
const { ADMIN_HOST, GATEWAY_ADMIN_PORT, WORKER_ADMIN_PORT, CONSOLE_ADMIN_PORT } = process.env
const everyAddress = [undefined, '', '0.0.0.0', '::', 'internal']
const host = everyAddress.includes(ADMIN_HOST) ? '127.0.0.1' : ADMIN_HOST
const port = GATEWAY_ADMIN_PORT ?? WORKER_ADMIN_PORT ?? CONSOLE_ADMIN_PORT
const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
const response = await fetch(`http://${authority}/healthz`, {
  signal: AbortSignal.timeout(3_000),
})
process.exitCode = response.ok ? 0 : 1
