// Receives traces on the port PORT and discards them. Prints `{"up":true}` when it listens.
import { createServer } from 'node:http'

createServer((request, response) => {
  request.resume().once('end', () => response.end())
}).listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('{"up":true}'))

process.once('SIGTERM', () => process.exit(0))
