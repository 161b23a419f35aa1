// Fastify with the same route, key check and validation, and no I/O: the lower bound for every
// gateway.
import { serveLogs } from './log-server.ts'

await serveLogs({})
