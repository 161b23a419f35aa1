import { readFileSync } from 'node:fs'
import { describeOperations, parameters, type DocumentedLimits } from './operations.ts'
import { headers, responses } from './responses.ts'
import { schemas } from './schemas.ts'

export type { OperationId } from '../errors.ts'
export { refusalsOf } from './responses.ts'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
const { version } = JSON.parse(manifest) as { version: string }

/**
 * Its schemas are written for client generators (`write-schema.ts`); docs/sending.md lists those
 * that were tried.
 *
 * @param options.url where clients reach the gateway, without a slash at the end
 */
export function openApiDocument(options: { url: string; limits: DocumentedLimits }) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Intake',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Accepts user feedback and application log events. Retry only on network errors and on ' +
        '408, 429, 502, 503 and 504, after Retry-After. 503 means not stored, except with the ' +
        'code `outcome_unknown`. 500 is a fault of Intake; the record may or may not be stored: ' +
        'retry at most three times. Lengths of texts are Unicode code points. An optional field ' +
        'may be left out or `null`. Fields that are not documented are kept.',
    },
    servers: [{ url: options.url }],
    tags: [{ name: 'intake', description: 'What client apps send. Nothing can be read.' }],
    security: [{ apiKey: [] }],
    paths: describeOperations(options.limits),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'A key can only write, so an app may contain it.',
        },
      },
      parameters,
      headers,
      responses,
      schemas,
    },
  }
}
