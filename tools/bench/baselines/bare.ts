// A Fastify server with the route, key check and validation of the other baselines. It discards the
// records, so no gateway can be expected to need less CPU for an event.
import { serveLogs } from './log-server.ts'

await serveLogs({})
