import { GatewayConfig } from '../../../packages/config/dist/index.js'
import { openApiDocument } from '../../../packages/contract/dist/openapi/document.js'
import { loadConfig } from '../../../packages/runtime/dist/config.js'

/** The document of a gateway without settings. */
export const openApi = openApiDocument({
  url: 'http://127.0.0.1:3000',
  limits: loadConfig(GatewayConfig, { REDIS_URL: 'redis://unused', S3_ENDPOINT: 'http://unused' }),
})
