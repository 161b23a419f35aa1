// npm run test:deploy: checks the Helm chart with several sets of values, in four ways: `helm lint`;
// kubeconform with the schemas of the oldest and the newest supported Kubernetes; for custom
// resources the validating classes ("models") of the npm packages @kubernetes-models; and the rules
// in check-manifests.mjs. Then it builds and runs what is in the images
// (deploy/check-images.sh). Needs Redis, Go, pip and npm. The first time it installs helm,
// kubeconform, the schemas and the models into node_modules/.cache, which takes some minutes. With
// docker on the PATH it also checks docker-compose.yml. With kube-apiserver, etcd and kubectl on
// the PATH, or named by KUBE_APISERVER, ETCD and KUBECTL, it also installs the chart on a real API
// server.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bootstrap, root } from '../../tools/scripts/bootstrap.mjs'

const tools = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
}
const schemas = 'kubernetes-validate==1.37.0'
const models = [
  '@kubernetes-models/keda@0.4.2',
  '@kubernetes-models/prometheus-operator@6.0.0',
  '@kubernetes-models/gateway-api@0.5.1',
]
/** Go modules, each with the files of its CustomResourceDefinitions. */
const definitionsOf = {
  'github.com/kedacore/keda/v2@v2.21.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
  'sigs.k8s.io/gateway-api@v1.5.1': [
    'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  ],
}
const kubernetesVersions = ['1.30.0', '1.37.0']
const cache = join(root, 'node_modules/.cache/intake-deploy')
const chart = join(root, 'deploy/helm/intake')

await bootstrap()
const { checkManifests, settingsOf } = await import('./check-manifests.mjs')
const { missingPrograms } = await import('./api-server.mjs')
const { checkOnApiServer } = await import('./check-on-api-server.mjs')
for (const [name, source] of Object.entries(tools)) installTool(name, source)
for (const version of kubernetesVersions) prepareSchemas(version)
const customResources = await loadModels()

const sets = readdirSync(join(chart, 'ci')).toSorted()
for (const set of sets) {
  const values = ['--values', join(chart, 'ci', set)]
  helm(['lint', '--strict', '--kube-version', kubernetesVersions[1], ...values, chart])
  for (const version of kubernetesVersions) {
    const manifests = helm(['template', 'intake', chart, '--kube-version', version, ...values])
    const file = join(cache, `${set}-${version}.yaml`)
    writeFileSync(file, manifests)
    const schema = `${join(cache, 'schemas')}/v${version}/{{.ResourceKind}}{{.KindSuffix}}.json`
    const skipped = Object.keys(customResources).join(',')
    const args = ['-strict', '-kubernetes-version', version, '-schema-location', schema]
    run(join(cache, 'bin/kubeconform'), [...args, '-skip', skipped, file])
    checkManifests({ manifests, chart, customResources })
  }
  console.log(`${set}: valid for Kubernetes ${kubernetesVersions.join(' and ')}`)
}

const someRegistry = 'images.registry=registry.example.com/intake'
const newest = ['--kube-version', kubernetesVersions[1]]

// A setting of a process replaces that of all, also by an empty value; `null` removes it.
const ofAll = 'settings.KEEP_METADATA=true,settings.DRAIN_MS=5000,settings.PUBLIC_URL=http://x'
const ofGateway = [
  'gateway.settings.KEEP_METADATA=false',
  'gateway.settings.DRAIN_MS=0',
  'gateway.settings.PUBLIC_URL=null',
]
const replaced = [someRegistry, ofAll, ...ofGateway].join()
const manifestsOfReplaced = helm(['template', chart, ...newest, '--set', replaced])
const { KEEP_METADATA, DRAIN_MS, PUBLIC_URL } = settingsOf(manifestsOfReplaced, 'gateway')
assert.deepEqual([KEEP_METADATA, DRAIN_MS, PUBLIC_URL], ['false', '0', undefined])
assert.equal(settingsOf(manifestsOfReplaced, 'console').KEEP_METADATA, 'true')
console.log('the settings of a process replace those of all')

for (const [problem, values] of Object.entries({
  'images.registry must be set': 'images.registry=',
  'existingSecret must be set': `${someRegistry},existingSecret=`,
  'REDIS_URL is set twice': `${someRegistry},settings.REDIS_URL=x`,
  'gateway.ingress.hosts must name a host': `${someRegistry},gateway.ingress.enabled=true`,
  "additional properties 'replica' not allowed": `${someRegistry},gateway.replica=3`,
})) {
  const args = ['template', chart, ...newest, '--set', values]
  const { status, stderr } = spawnSync(join(cache, 'bin/helm'), args, { encoding: 'utf8' })
  if (status === 0 || !stderr.includes(problem)) {
    throw new Error(`not refused: ${problem}\n${stderr}`)
  }
  console.log(`refused: ${problem}`)
}

const missing = missingPrograms()
if (missing.length === 0) {
  const version = await checkOnApiServer({
    helm: join(cache, 'bin/helm'),
    chart,
    // Reverses the order, so that the smallest set of values comes first.
    sets: sets.toReversed().map((set) => join(chart, 'ci', set)),
    definitions: Object.keys(definitionsOf).flatMap(downloadDefinitions),
    folder: join(cache, 'api-server'),
  })
  console.log(`API server ${version}: installs, upgrades, rolls back and uninstalls the chart`)
} else {
  console.log(`SKIPPED: the chart on an API server, because there is no ${missing.join(', no ')}`)
}

// The folder is outside of this checkout. Otherwise, if the images lacked a package, Node would use
// that of the checkout.
const images = mkdtempSync(join(tmpdir(), 'intake-images-'))
try {
  run('sh', ['deploy/check-images.sh', images])
} finally {
  rmSync(images, { recursive: true, force: true })
}
console.log('images: a record passes through what is in them; their packages have allowed licences')

if (spawnSync('docker', ['compose', 'version']).status === 0) {
  run('docker', ['compose', '--profile', '*', 'config', '--quiet'])
  console.log('docker-compose.yml: valid')
} else {
  console.log('docker-compose.yml: not checked, because there is no docker compose')
}

function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: 1_800_000,
    maxBuffer: 256 * 1024 * 1024,
    ...options,
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${stdout}${stderr}`)
  return stdout
}

function helm(args) {
  return run(join(cache, 'bin/helm'), args)
}

function installTool(name, source) {
  if (existsSync(join(cache, 'bin', name))) return
  console.log(`installing ${source}`)
  run('go', ['install', source], { env: { ...process.env, GOBIN: join(cache, 'bin') } })
}

function downloadDefinitions(module) {
  const { Dir } = JSON.parse(run('go', ['mod', 'download', '-json', module]))
  return definitionsOf[module].map((file) => join(Dir, file))
}

/** Makes the absolute references in the schemas relative, because kubeconform needs that. */
function prepareSchemas(version) {
  const target = join(cache, 'schemas', `v${version}`)
  if (existsSync(join(target, 'pod-v1.json'))) return
  const library = join(cache, 'python')
  if (!existsSync(library)) {
    run('pip', ['install', '--quiet', '--no-deps', '--target', library, schemas])
  }
  const source = join(
    library,
    'kubernetes_validate/kubernetes-json-schema',
    `v${version}-local-strict`,
  )
  mkdirSync(target, { recursive: true })
  for (const file of readdirSync(source)) {
    const text = readFileSync(join(source, file), 'utf8')
    writeFileSync(
      join(target, file),
      text
        .replaceAll('"/api/_definitions.json', '"_definitions.json')
        .replaceAll('"$id":', '"x-id":'),
    )
  }
}

/** Loads the models of the custom resources, by kind. Each is a class that validates an object. */
async function loadModels() {
  const folder = join(cache, 'models')
  if (!existsSync(join(folder, 'node_modules'))) {
    run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...models])
  }
  // Node looks for the packages that a module imports in the module's folder. So this module is
  // written into the folder in which the packages are installed.
  const index = join(folder, 'index.mjs')
  writeFileSync(
    index,
    `export { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1'
export { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
export { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1'
`,
  )
  return import(pathToFileURL(index).href)
}
