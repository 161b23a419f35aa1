// Fastify with the route, key check and validation of the other baselines, and nothing behind it.
// No gateway can be expected to need less CPU for an event.
import { serveLogs } from './log-server.ts'

await serveLogs({})
