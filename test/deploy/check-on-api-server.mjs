// Installs the chart on a real API server that has no nodes and no controllers; used by
// test/deploy/main.mjs.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execute, startApiServer } from './api-server.mjs'

/**
 * A release name and a version that Helm allows, but whose characters the chart must replace: the
 * name of a Service must not contain a dot, and the value of a label must not contain a plus sign.
 */
const release = 'in.house'
const version = '0.0.1+test'
const fullName = 'in-house-intake'
const namespace = 'intake'
const inNamespace = ['--namespace', namespace]
const strict = ['--dry-run=server', '--validate=strict', '--warnings-as-errors', '-f', '-']

/**
 * Runs a failed install, an install with the first set of values, an upgrade to each of the other
 * sets, a rollback to the first set, `helm test` and an uninstall. The user who runs Helm has
 * rights in only one namespace, which admits only pods of the level `restricted`.
 *
 * @param options.helm the command that runs Helm
 * @param options.sets paths of files with values; the first enables the hook `setup`, and is the
 * target of the rollback
 * @param options.definitions files with the CustomResourceDefinitions that the chart needs
 * @param options.folder for data and logs; emptied first
 * @returns the version of the API server
 */
export async function checkOnApiServer({ helm, chart, sets, definitions, folder }) {
  const { kubectl, env, stop, ...server } = await startApiServer(folder)
  const run = (...args) =>
    execute({ command: helm, args: [...args, ...inNamespace, '--kube-as-user', 'installer'], env })
  const archive = join(folder, `intake-${version}.tgz`)
  const upgrade = (values) => run('upgrade', '--install', release, archive, '--values', values)
  try {
    requireQuiet(await run('package', chart, '--version', version, '--destination', folder))
    for (const file of definitions) await kubectl(['create', '--validate=strict', '-f', file])
    await kubectl(['create', '-f', '-'], JSON.stringify(listOf(surroundings())))

    const { ok, stderr } = await withStandIn({ kubectl, work: upgrade(sets[0]), jobsFail: true })
    assert.equal(ok, false)
    assert.match(stderr, new RegExp(`failed pre-install.*${fullName}-setup.*failed`, 'is'))

    const states = []
    for (const values of sets) {
      requireQuiet(await withStandIn({ kubectl, work: upgrade(values) }))
      await checkObjects({ kubectl, run })
      states.push(await readState(kubectl))
    }
    requireQuiet(await run('rollback', release, '2')) // revision 1 is the failed install
    assert.deepEqual(await readState(kubectl), states[0])
    requireQuiet(await withStandIn({ kubectl, work: run('test', release) }))
    requireQuiet(await run('uninstall', release))
    assert.deepEqual((await readState(kubectl)).names, [`pod/${fullName}-doctor`])
    return server.version
  } finally {
    await stop()
  }
}

/**
 * Checks that all objects are valid, without unknown fields and warnings, and that the pods that
 * controllers would create from them are valid, too.
 */
async function checkObjects({ kubectl, run }) {
  for (const part of ['manifest', 'hooks']) {
    const { stdout } = requireQuiet(await run('get', part, release))
    const apply = ['apply', '--server-side', '--force-conflicts', ...inNamespace, ...strict]
    await kubectl(apply, stdout)
  }
  const owners = await list(kubectl, 'deployments,cronjobs')
  assert.ok(owners.length >= 3)
  await admitPods(kubectl, owners)
}

/**
 * Acts as the controllers and the node while `work` runs: completes or fails Jobs, and completes
 * the Pod of `helm test`.
 */
async function withStandIn({ kubectl, work, jobsFail = false }) {
  const over = work.then((result) => ({ result }))
  for (;;) {
    for (const { kind, metadata, spec, status } of await list(kubectl, 'jobs,pods')) {
      const isDone = kind === 'Job' ? status.conditions !== undefined : status.phase !== 'Pending'
      if (isDone) continue
      if (kind === 'Job') await admitPods(kubectl, [{ metadata, spec }])
      const patch = { status: kind === 'Job' ? statusOfJob(jobsFail) : { phase: 'Succeeded' } }
      const merge = ['--subresource=status', '--type=merge', '-p', JSON.stringify(patch)]
      await kubectl(['patch', kind, metadata.name, ...inNamespace, ...merge])
    }
    const ended = await Promise.race([over, delay(200)])
    if (ended) return ended.result
  }
}

function statusOfJob(fails) {
  const now = new Date().toISOString()
  const reason = fails ? 'BackoffLimitExceeded' : 'CompletionsReached'
  const types = fails ? ['FailureTarget', 'Failed'] : ['SuccessCriteriaMet', 'Complete']
  const conditions = types.map((type) => ({
    type,
    status: 'True',
    reason,
    lastTransitionTime: now,
  }))
  if (fails) return { startTime: now, failed: 1, conditions }
  return { startTime: now, completionTime: now, succeeded: 1, conditions }
}

/**
 * Checks that pods of these Deployments, Jobs and CronJobs pass admission: Pod Security, service
 * account, priority.
 */
async function admitPods(kubectl, owners) {
  const pods = owners.map(({ metadata: { name }, spec }) => {
    const template = spec.jobTemplate?.spec.template ?? spec.template
    const metadata = { ...template.metadata, generateName: `${name}-` }
    return { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec }
  })
  await kubectl(['create', ...inNamespace, ...strict], JSON.stringify(listOf(pods)))
}

/** The state of the release: the names of all its objects, and the content of its Deployments. */
async function readState(kubectl) {
  const kinds = await kubectl(['api-resources', '--namespaced', '--verbs=list', '-o', 'name'])
  const all = kinds.trim().split('\n').join(',')
  const selector = ['--selector', `app.kubernetes.io/instance=${release}`]
  const names = await kubectl(['get', all, ...inNamespace, ...selector, '-o', 'name'])
  const deployments = await list(kubectl, 'deployments')
  return {
    names: names.split('\n').filter(Boolean),
    deployments: deployments.map(({ metadata: { name, labels }, spec }) => ({
      name,
      labels,
      spec,
    })),
  }
}

async function list(kubectl, kinds) {
  return JSON.parse(await kubectl(['get', kinds, ...inNamespace, '-o', 'json'])).items
}

const listOf = (items) => ({ apiVersion: 'v1', kind: 'List', items })

/** Checks that a command succeeded and that the API server sent no warning. */
function requireQuiet(result) {
  assert.ok(result.ok && !result.stderr.includes('warnings.go'), result.stderr)
  return result
}

/**
 * The objects that exist in a cluster before an install. The user who runs Helm gets two roles that
 * a controller would aggregate into the role `edit`. This user also gets rights for the custom
 * resources, which KEDA and other providers would grant in a real cluster.
 */
function surroundings() {
  const customResources = {
    apiGroups: ['keda.sh', 'monitoring.coreos.com', 'gateway.networking.k8s.io'],
    resources: ['scaledobjects', 'podmonitors', 'prometheusrules', 'httproutes'],
    verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
  }
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  }
  const group = 'rbac.authorization.k8s.io'
  const object = (apiVersion, kind, name, more) => ({
    apiVersion,
    kind,
    metadata: { name, namespace },
    ...more,
  })
  const bind = (kind, name) =>
    object(`${group}/v1`, 'RoleBinding', name, {
      roleRef: { apiGroup: group, kind, name },
      subjects: [{ apiGroup: group, kind: 'User', name: 'installer' }],
    })
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'production' },
      value: 1000,
    },
    object('v1', 'ServiceAccount', 'existing'),
    object(`${group}/v1`, 'Role', 'custom-resources', { rules: [customResources] }),
    bind('Role', 'custom-resources'),
    bind('ClusterRole', 'system:aggregate-to-edit'),
    bind('ClusterRole', 'system:aggregate-to-view'),
  ]
}
