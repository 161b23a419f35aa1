import { createGatewayMetrics } from '../../../gateway/dist/report/metrics.js'
import { registerRuleMetrics } from '../../../gateway/dist/report/rule-metrics.js'
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
import { createAnnounceMetrics } from '../../../worker/dist/deliver/announce-feedback.js'
import { registerCountMetrics } from '../../../console/dist/counts.js'
import { createThumbnailMetrics } from '../../../console/dist/thumbnails/metrics.js'
import { createWebhookMetrics } from '../../../console/dist/webhook/metrics.js'
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

/** Settings of the object store have a table of their own. */
const ofObjectStore = new Set(Object.values(ObjectStoreConfig.properties))

const services = [GatewayConfig, WorkerConfig, ConsoleConfig]

/** The names of settings that all services have with the same meaning. */
const ofAll = new Set(
  Object.entries(GatewayConfig.properties)
    .filter(([name, { description }]) =>
      services.every(({ properties }) => properties[name]?.description === description),
    )
    .map(([name]) => name),
)

function settingsList({ properties, required }, isListed = () => true) {
  const own = Object.entries(properties).filter(
    ([name, setting]) => !ofObjectStore.has(setting) && isListed(name),
  )
  return rowsOf(own, required)
}

/** The names of settings that two of the services have with the same meaning, for a sentence. */
function sharedNames({ properties }, { properties: above }) {
  return Object.keys(properties)
    .filter((name) => isOwn(name) && above[name]?.description === properties[name].description)
    .filter((name) => !ofObjectStore.has(properties[name]))
    .map((name) => `\`${name}\``)
    .join(', ')
}

/** Selects the settings of a service that none of the services above it has with the same meaning. */
const isNewIn =
  ({ properties }, ...above) =>
  (name) =>
    isOwn(name) &&
    above.every((one) => one.properties[name]?.description !== properties[name].description)
const isOwn = (name) => !ofAll.has(name)

function rowsOf(settings, required) {
  const rows = settings.map(([name, { description, default: preset }]) => {
    const without = required.includes(name) ? ' (required)' : ''
    return `- \`${name}\`${preset === undefined ? without : ` (\`${preset}\`)`}: ${description}`
  })
  return rows.join('\n')
}

/** Secrets whose new values a running process uses, or all others. */
function secretsList({ isFollowed }) {
  const names = [...services, StackConfig].flatMap(secretNames)
  const followed = new Set(
    services.flatMap(({ properties }) =>
      Object.keys(properties).filter((name) => properties[name].isFollowed),
    ),
  )
  return [...new Set(names)]
    .filter((name) => followed.has(name) === isFollowed)
    .map((name) => `\`${name}\``)
    .join(', ')
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

${settingsList(GatewayConfig, (name) => ofAll.has(name))}

## Gateway

${settingsList(GatewayConfig, isOwn)}

## Worker

As in the gateway: ${sharedNames(WorkerConfig, GatewayConfig)}. And:

${settingsList(WorkerConfig, isNewIn(WorkerConfig, GatewayConfig))}

## Console

As in the gateway: ${sharedNames(ConsoleConfig, GatewayConfig)}; as in the worker: ${sharedNames(ConsoleConfig, WorkerConfig)}. And:

${settingsList(ConsoleConfig, isNewIn(ConsoleConfig, GatewayConfig, WorkerConfig))}

## \`npm start\`

Gateway, workers and console inherit its environment, so the settings above work too, except \`HOST\` and
\`ADMIN_HOST\`: \`npm start\` serves only this machine.

${settingsList(StackConfig)}

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

/** Registers metrics as a starting gateway does, but without anything that sets their values. */
function gatewayMetrics() {
  const registry = createMetrics()
  createGatewayMetrics(registry)
  registerEdgeMetrics(registry, {})
  registerRedisMetrics(registry, {})
  registerRuleMetrics(registry, {})
  return registry
}

function workerMetrics() {
  const registry = createMetrics()
  createWorkerMetrics(registry)
  registerBacklogMetrics(registry, {})
  registerStoredStateMetrics(registry, {})
  createAnnounceMetrics(registry)
  return registry
}

function consoleMetrics() {
  const registry = createMetrics()
  registerCountMetrics(registry, {})
  createThumbnailMetrics(registry)
  createWebhookMetrics(registry)
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

${metricsList(gatewayMetrics(), common)}

## Worker

Every worker reports the same of what is shared: take \`max\`, not \`sum\`. So does every console.

${metricsList(workerMetrics(), common)}

## Console

${metricsList(consoleMetrics(), common)}
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
