import { createGatewayMetrics } from '../../../gateway/dist/report/metrics.js'
import {
  registerEdgeMetrics,
  registerRedisMetrics,
} from '../../../gateway/dist/report/state-metrics.js'
import {
  ConsoleConfig,
  GatewayConfig,
  ObjectStoreConfig,
  WorkerConfig,
} from '../../../packages/config/dist/index.js'
import { errorCatalogue } from '../../../packages/contract/dist/index.js'
import { startProblems } from '../../../packages/health/dist/index.js'
import { measureObjectStore } from '../../../packages/object-store/dist/index.js'
import { secretNames } from '../../../packages/runtime/dist/index.js'
import { createMetrics } from '../../../packages/runtime/dist/process.js'
import { StackConfig } from '../../local/dist/stack/config.js'
import { registerBacklogMetrics } from '../../../worker/dist/watch/backlog-metrics.js'
import { createWorkerMetrics } from '../../../worker/dist/watch/metrics.js'
import { registerStoredStateMetrics } from '../../../worker/dist/watch/stored-state-metrics.js'
import { registerCountMetrics } from '../../../console/dist/counts.js'
import { createThumbnailMetrics } from '../../../console/dist/thumbnails/thumbnails.js'
import { createWebhookMetrics } from '../../../console/dist/webhook/start-webhook.js'
import { statesList } from './states-page.mjs'

const generated = '<!-- Generated from the code by `npm run generate`. Do not edit. -->\n\n'

/** The codes of the catalogue that `isMeant` selects, one a line. */
const codesThat = (isMeant) =>
  Object.entries(errorCatalogue)
    .filter(([, error]) => isMeant(error))
    .map(([code, { status, title }]) => `- ${status} \`${code}\`: ${title}.`)
    .join('\n')

export function errorsPage() {
  return `# Errors

${generated}Every error response is \`application/problem+json\` (RFC 9457) with \`type\`
(\`urn:intake:error:\` and the code), \`title\`, \`status\`, \`detail\`, \`code\`, \`errors\` (JSON pointers to
the invalid fields) and \`request_id\`. It never contains submitted values.

## Retry

On network errors, and on these after \`Retry-After\`. 503 means that nothing was stored, except with \`outcome_unknown\`.

${codesThat(({ status, retryable }) => retryable && status !== 500)}

With the same id or key, at most three times, because the record may or may not be stored:

${codesThat(({ status }) => status === 500)}

## Do not retry

${codesThat(({ status, retryable }) => !retryable && status !== 500)}
`
}

const services = [GatewayConfig, WorkerConfig, ConsoleConfig]

const ofObjectStore = new Set(Object.values(ObjectStoreConfig.properties))
/** The settings of a service. Those of the object store have a table of their own. */
const settingsOf = ({ properties }) =>
  Object.entries(properties).filter(([, setting]) => !ofObjectStore.has(setting))

/** Whether a service has this setting with the same meaning. */
const has = ({ properties }, [name, { description }]) =>
  properties[name]?.description === description

const isOfAll = (setting) => services.every((service) => has(service, setting))
const isShared = (setting, above) => above.some((service) => has(service, setting))

/** The settings of a service that not all services have, and none of those above it. */
function newIn(service, ...above) {
  const own = settingsOf(service).filter((one) => !isOfAll(one) && !isShared(one, above))
  return rowsOf(own, service.required)
}

/** The names of settings that not all services have, but this one and one above it. */
const sharedNames = (service, ...above) =>
  namesOf(settingsOf(service).filter((one) => !isOfAll(one) && isShared(one, above)))

const namesOf = (settings) => settings.map(([name]) => `\`${name}\``).join(', ')

function rowsOf(settings, required) {
  const rows = settings.map(([name, { description, default: preset }]) => {
    const without = required.includes(name) ? ' (required)' : ''
    return `- \`${name}\`${preset === undefined ? without : ` (\`${preset}\`)`}: ${description}`
  })
  return rows.join('\n')
}

/** Secrets whose new values a running process uses, or all others. */
function secretsList({ isFollowed }) {
  const secrets = new Set([...services, StackConfig].flatMap(secretNames))
  const isUsed = (name) => services.some(({ properties }) => properties[name]?.isFollowed)
  return namesOf([...secrets].filter((name) => isUsed(name) === isFollowed).map((name) => [name]))
}

export function configurationPage() {
  return `# Configuration

${generated}Each process reads its settings from the environment. If any are invalid, it names all of them, and exits with code 1.
\`LOG_LEVEL\` (trace, debug, info, warn or error; default \`info\`) applies to all. They log JSON lines, or lines for people on a
terminal; the first has the settings in force, without secrets. No level above debug logs single records. Defaults are in brackets.

## Secrets in files

Settings with secrets can also be given as \`NAME_FILE\`, the path of a file with the value. Setting both is an error.

- Followed by the processes while they run ([rotate secrets](operations/rotate-secrets.md)):
  ${secretsList({ isFollowed: true })}.
- Read at the start only; a change needs a restart: ${secretsList({ isFollowed: false })}.

## All services

${rowsOf(settingsOf(GatewayConfig).filter(isOfAll), GatewayConfig.required)}

## Gateway

${newIn(GatewayConfig)}

## Worker

As in the gateway: ${sharedNames(WorkerConfig, GatewayConfig)}. And:

${newIn(WorkerConfig, GatewayConfig)}

## Console

As in the gateway: ${sharedNames(ConsoleConfig, GatewayConfig)}; as in the worker: ${sharedNames(ConsoleConfig, WorkerConfig)}. And:

${newIn(ConsoleConfig, GatewayConfig, WorkerConfig)}

## \`npm start\`

Gateway, workers and console inherit its environment, so the settings above work too, except \`HOST\` and
\`ADMIN_HOST\`: \`npm start\` serves only this machine.

${rowsOf(settingsOf(StackConfig), StackConfig.required)}

## Object store

Gateway, console, \`npm start\` and the commands of \`intake\` have these settings, and need the same values
([how to set them for AWS and others](deploy/object-store.md)). The names with \`AWS_\` count only if \`S3_ENDPOINT\` has no keys; the first source
of credentials that is set is used: access key, web identity, container, metadata of the instance.

${rowsOf(Object.entries(ObjectStoreConfig.properties), ObjectStoreConfig.required)}
`
}

/** The metrics that all services register. */
function commonMetrics() {
  const registry = createMetrics()
  startProblems({ checks: {}, log: undefined, metrics: registry }).close()
  measureObjectStore({}, { metrics: registry })
  return registry
}

/** What each service registers as it starts, here without anything that sets the values. */
const registering = {
  gateway: [createGatewayMetrics, registerEdgeMetrics, registerRedisMetrics],
  worker: [createWorkerMetrics, registerBacklogMetrics, registerStoredStateMetrics],
  console: [registerCountMetrics, createThumbnailMetrics, createWebhookMetrics],
}

function metricsOf(service) {
  const registry = createMetrics()
  for (const register of registering[service]) register(registry, {})
  return registry
}

function metricsList(registry, without) {
  const rows = registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('intake_') && !without?.getSingleMetric(name))
    .map(({ name, help, type, labelNames = [] }) => {
      const labels = labelNames.filter((label) => label !== 'le')
      const shown = labels.length > 0 ? ` \`{${labels.join(',')}}\`` : ''
      return `- \`${name}\`${shown} (${type}): ${help}`
    })
  return rows.join('\n')
}

export function metricsPage() {
  const common = commonMetrics()
  return `# Metrics

${generated}\`GET /metrics\` on the admin ports: Prometheus text. The values of labels come from closed lists. [Alerts and
dashboards](observability.md) use these names. \`kind\` is \`logs\` or \`feedback\`; on the worker also \`outcomes\`, the counts of what was accepted and refused.

## All

Also \`process_*\` and \`nodejs_*\` of prom-client.

${metricsList(common)}

Gateways have those of the object store, and consoles if they show pictures.

## Gateway

${metricsList(metricsOf('gateway'), common)}

## Worker

Every worker reports the same of what is shared: take \`max\`, not \`sum\`. So does every console.

${metricsList(metricsOf('worker'), common)}

## Console

${metricsList(metricsOf('console'), common)}
`
}

export function statesPage() {
  return `# All states

${generated}Where each bad state is visible: its state in \`/status\`, its alert, a metric, its log line. On the admin ports: \`intake_problem{code}\` in \`/metrics\`, and
\`problems\` in \`/status\`; \`down\` also means not ready. The alerts are those of [observability](../observability.md). The
log line has the code in \`problem\` and its page in \`help\`; when the state ends it follows again with \`over:\`.

${statesList()}

States without an alert are reported by \`intake doctor\`. With \`REDIS_DURABILITY=relaxed\` a gateway that could lose
records is only \`degraded\`.
`
}
