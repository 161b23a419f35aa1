import { randomUUID } from 'node:crypto'
import { createUuidV7 } from '@intake/contract'
import { fileURLToPath } from 'node:url'
import { quoteWord, withoutCredentials } from '@intake/runtime'
import type { RunningStack } from './stack.ts'

const screenshot = fileURLToPath(new URL('../../examples/screenshot.png', import.meta.url))

const firstQuery = 'SELECT * FROM intake.recent FORMAT PrettyCompact'

/**
 * The text shown at start: the URLs, the key, and one command per operation, ready to paste also
 * behind a proxy.
 */
export function welcome({ endpoints, playUrl }: RunningStack, env: NodeJS.ProcessEnv): string {
  const { gateway, gatewayAdmin, workerAdmin, page, analyst, apiKey, s3 } = endpoints
  const credentials = credentialsIn(analyst)
  const text = `
Intake is ready. Press Ctrl-C to stop it.

  Gateway      ${gateway}
  Page         ${page}/ (feedback, events, dead letters, status)
  Admin        ${gatewayAdmin} (gateway)  ${workerAdmin ?? 'none'} (worker)  ${page} (console): /healthz /readyz /metrics
  ClickHouse   ${withoutCredentials(analyst)} (user ${credentials.user}, password ${credentials.password})${playUrl === undefined ? '' : `\n  Queries      ${playUrl}`}
  S3           ${withoutCredentials(s3)}
  API key      ${apiKey}

Send a log event:

${logCommand(gateway, apiKey)}

Send several at once (their ids make a repeat harmless):

${batchCommand(gateway, apiKey)}

Send feedback with a screenshot:

${feedbackCommand(gateway, apiKey)}

Fill it with what three invented apps send (and take it away: ./intake demo --remove --yes):

  ./intake demo

See them arrive (./intake connect has the lines for your tool):

${queryCommand(analyst)}
`
  const hasProxy = env['http_proxy'] || env['all_proxy'] || env['ALL_PROXY']
  return hasProxy ? text.replaceAll('curl -sS', "curl --noproxy '*' -sS") : text
}

function exampleContext() {
  return {
    bundle_identifier: 'com.example.app',
    device: { os: 'Android', device_model: 'Pixel 8', battery_level: 81.5 },
    device_uuid: randomUUID(),
    unique_user_id: 'user-1',
  }
}

function logCommand(gateway: string, apiKey: string) {
  const log = { id: createUuidV7(Date.now()), event: 'screen_view', params: { screen: 'home' } }
  return jsonCommand(`${gateway}/api/log`, apiKey, { ...exampleContext(), log })
}

function batchCommand(gateway: string, apiKey: string) {
  const logs = [
    { id: createUuidV7(Date.now()), event: 'tap', params: { button: 'buy' } },
    { id: createUuidV7(Date.now()), event: 'purchase', params: { amount: 9.99 } },
  ]
  return jsonCommand(`${gateway}/api/log/batch`, apiKey, { ...exampleContext(), logs })
}

function jsonCommand(url: string, apiKey: string, body: unknown) {
  const headers = ['content-type: application/json', `x-api-key: ${apiKey}`]
  return command(url, headers, ['-d', JSON.stringify(body)])
}

function feedbackCommand(gateway: string, apiKey: string) {
  const feedback = {
    id: randomUUID(),
    email: 'user@example.com',
    text: 'The new screen is lovely.',
  }
  const payload = JSON.stringify({ ...exampleContext(), feedback })
  // Quotes the file name for curl, because a comma or a semicolon would otherwise end it.
  const file = `"${screenshot.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  const form = ['-F', `payload=${payload}`, '-F', `attachments=@${file}`]
  return command(`${gateway}/api/feedback`, [`x-api-key: ${apiKey}`], form)
}

function queryCommand(analystUrl: string) {
  const { user, password } = credentialsIn(analystUrl)
  const headers = [`X-ClickHouse-User: ${user}`, `X-ClickHouse-Key: ${password}`]
  return command(withoutCredentials(analystUrl), headers, ['-d', firstQuery])
}

function credentialsIn(url: string) {
  const { username, password } = new URL(url)
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
}

function command(url: string, headers: string[], body: string[]) {
  const args = [url, ...headers.flatMap((header) => ['-H', header]), ...body]
  // Responses end without a line break, so curl prints one after each response.
  return ['curl', '-sS', '-w', String.raw`'\n'`, ...args.map(quoteWord)].join(' ')
}
