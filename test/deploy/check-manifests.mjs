// Checks of the chart's manifests that a schema cannot express; used by test/deploy/main.mjs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments, parse } from 'yaml'
import { ConsoleConfig, GatewayConfig, WorkerConfig } from '@intake/config'

/**
 * Milliseconds within which a process ends after it has drained (gateway/src/main.ts,
 * worker/src/main.ts, console/src/main.ts).
 */
const closeTimeoutMs = 10_000
/** The default of `helm install --timeout`. */
const helmTimeoutSeconds = 300
/** Variables that processes or commands read, but that are not in the schemas of settings. */
const others = [
  'LOG_LEVEL',
  'INTAKE_API_KEY',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'INTAKE_GATEWAY_ADMIN_URL',
  'INTAKE_WORKER_ADMIN_URL',
  'INTAKE_CONSOLE_ADMIN_URL',
]
const settings = new Set([
  ...Object.keys(GatewayConfig.properties),
  ...Object.keys(WorkerConfig.properties),
  ...Object.keys(ConsoleConfig.properties),
  ...others,
])

/**
 * Checks the manifests that the chart renders.
 *
 * @throws {Error} for the first check that fails
 */
export function checkManifests({ manifests, chart, customResources }) {
  const objects = parseAllDocuments(manifests, { version: '1.1' })
    .map((document) => document.toJS())
    .filter(Boolean)
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  assert.equal(new Set(names).size, names.length, `two objects have one name: ${names.join(', ')}`)
  for (const object of objects) {
    const CustomResource = customResources[object.kind]
    if (CustomResource) new CustomResource(object).validate()
    const pod = podOf(object)
    if (pod) checkPod(pod, `${object.kind} ${object.metadata.name}`)
    if (object.kind === 'Job') checkJob(object.spec)
  }
  checkTargets(objects)
  checkAlerts({ objects, chart })
  assert.ok(!/:\/\/[^/\s"]+:[^/\s"@]*@/.test(manifests), 'no URL has a password in it')
}

/** Returns the values of the settings of a component's container, by name. */
export function settingsOf(manifests, component) {
  const objects = parseAllDocuments(manifests).map((document) => document.toJS())
  const deployment = objects.find(
    (object) =>
      object?.kind === 'Deployment' &&
      object.metadata.labels['app.kubernetes.io/component'] === component,
  )
  const { env } = deployment.spec.template.spec.containers[0]
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

const podOf = ({ kind, spec }) =>
  kind === 'Pod' ? spec : (spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec)

function checkPod(pod, name) {
  assert.equal(pod.securityContext.runAsNonRoot, true, name)
  assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault', name)
  assert.equal(pod.automountServiceAccountToken, false, name)
  const [container, ...more] = pod.containers
  assert.equal(more.length, 0, name)
  assert.equal(container.securityContext.allowPrivilegeEscalation, false, name)
  assert.equal(container.securityContext.readOnlyRootFilesystem, true, name)
  assert.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] }, name)
  assert.ok(container.resources.limits.memory && container.resources.requests.cpu, name)
  assert.ok(/(:[^/:@]+|@sha256:[0-9a-f]{64})$/.test(container.image), `${name}: ${container.image}`)

  const files = pod.volumes.find((volume) => volume.secret)?.secret.items.map(({ path }) => path)
  const env = new Map(container.env.map((variable) => [variable.name, variable.value]))
  for (const [variable, value] of env) {
    const setting = variable.replace(/_FILE$/, '')
    assert.ok(settings.has(setting), `${name}: no setting ${variable}`)
    assert.ok(!/e\+\d/.test(value), `${name}: ${variable} is ${value}`)
    if (setting === variable) continue
    assert.ok(files.includes(value.replace('/run/intake-secrets/', '')), `${name}: ${value}`)
  }
  if (container.livenessProbe) {
    const neededMs = Number(env.get('DRAIN_MS') ?? 0) + closeTimeoutMs
    assert.ok(pod.terminationGracePeriodSeconds * 1000 >= neededMs + 5_000, `${name}: grace period`)
    assert.equal(container.livenessProbe.httpGet.path, '/healthz', name)
    assert.equal(container.readinessProbe.httpGet.path, '/readyz', name)
  }
}

/**
 * Checks that a Job ends before helm stops waiting; otherwise helm could not print why the Job
 * failed. Also checks that the pauses between attempts take less than half of the Job's time. The
 * first pause is 10 s; each later pause is twice as long.
 */
function checkJob({ activeDeadlineSeconds, backoffLimit }) {
  assert.ok(activeDeadlineSeconds < helmTimeoutSeconds)
  assert.ok(10 * (2 ** backoffLimit - 1) < activeDeadlineSeconds / 2)
}

/**
 * Checks that every selector matches pods, that every scaler names an existing Deployment, and that
 * this Deployment does not set its own number of replicas.
 */
function checkTargets(objects) {
  const deployments = objects.filter(({ kind }) => kind === 'Deployment')
  const labels = objects.flatMap(({ spec }) => {
    const template = spec?.jobTemplate?.spec.template ?? spec?.template
    return template ? [template.metadata.labels] : []
  })
  for (const { kind, metadata, spec } of objects) {
    const name = `${kind} ${metadata.name}`
    const selector =
      kind === 'Service' ? spec.selector : (spec?.podSelector ?? spec?.selector)?.matchLabels
    if (selector) {
      const isSelected = (pod) =>
        Object.entries(selector).every(([label, value]) => pod[label] === value)
      assert.ok(labels.some(isSelected), `${name} selects nothing`)
    }
    const target = spec?.scaleTargetRef?.name
    if (target === undefined) continue
    const deployment = deployments.find((one) => one.metadata.name === target)
    assert.ok(deployment, `${name} scales nothing`)
    assert.equal(deployment.spec.replicas, undefined, name)
  }
}

/**
 * Checks that the alert rules equal those of deploy/observability/alerts.yml, apart from the
 * address of the documentation pages.
 */
function checkAlerts({ objects, chart }) {
  for (const { spec } of objects.filter(({ kind }) => kind === 'PrometheusRule')) {
    const { groups } = parse(readFileSync(join(chart, 'files/alerts.yml'), 'utf8'))
    const rules = spec.groups.flatMap((group) => group.rules)
    for (const { annotations } of rules) {
      if (!annotations) continue
      const page = /docs\/operations\/.*$/.exec(annotations.runbook_url)
      assert.ok(page, annotations.runbook_url)
      annotations.runbook_url = page[0]
    }
    assert.deepEqual(spec.groups, groups)
  }
}
