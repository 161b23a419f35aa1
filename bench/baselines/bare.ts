// Fastify with the same route, key check and validation, and nothing behind it. No gateway is
// expected to need less CPU for an event.
import { serveLogs } from './log-server.ts'

await serveLogs({})
