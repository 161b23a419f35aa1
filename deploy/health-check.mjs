// Health check of the containers: exit code 0 while the process serves. It asks for liveness and not
// for readiness, because a restart does not bring a missing Redis back: a gateway without one
// answers 503 and recovers by itself.
const port = process.env.GATEWAY_ADMIN_PORT ?? process.env.WORKER_ADMIN_PORT
const response = await fetch(`http://127.0.0.1:${port}/healthz`, {
  signal: AbortSignal.timeout(3_000),
})
process.exitCode = response.ok ? 0 : 1
