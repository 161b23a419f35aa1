// A Kubernetes API server without nodes and controllers, on loopback, for check-on-api-server.mjs.
import { execFile, spawnSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pickPort, startChild, startReadyChild } from '@intake/local'

const { KUBE_APISERVER, ETCD, KUBECTL } = process.env
const programs = {
  apiServer: KUBE_APISERVER ?? 'kube-apiserver',
  etcd: ETCD ?? 'etcd',
  kubectl: KUBECTL ?? 'kubectl',
}

/**
 * Returns the names of the programs that are missing. A program is either on the PATH, or is named
 * by KUBE_APISERVER, ETCD or KUBECTL.
 */
export function missingPrograms() {
  return Object.values(programs).filter((name) => spawnSync(name, ['--version']).error)
}

/** Runs a program and resolves to its status and output. */
export function execute({ command, args, input = '', env = process.env }) {
  return new Promise((resolve) => {
    const limits = { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(command, args, { ...limits, env }, (error, stdout, stderr) =>
      resolve({ ok: !error, stdout, stderr }),
    )
    child.stdin.end(input)
  })
}

/**
 * Starts etcd and the API server with empty data. The returned function `kubectl` runs kubectl as
 * the administrator, and rejects if kubectl fails.
 *
 * @param folder for data and logs; emptied first
 */
export async function startApiServer(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [etcdPort, peerPort, port] = [await pickPort(), await pickPort(), await pickPort()]
  const [etcdUrl, peerUrl] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`]
  const token = randomBytes(24).toString('hex')
  const file = (name) => join(folder, name)
  writeFileSync(file('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 })
  const kubeconfig = file('kubeconfig.json') // JSON is YAML
  writeFileSync(kubeconfig, JSON.stringify(access({ port, token })), { mode: 0o600 })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' })
  writeFileSync(file('accounts.key'), pem, { mode: 0o600 })

  const program = (name, command, args) => ({ name, command, args, logFile: file(`${name}.log`) })
  const etcdArgs = [
    `--data-dir=${file('etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ]
  const serverArgs = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${file('certificates')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('accounts.key')}`,
    `--service-account-signing-key-file=${file('accounts.key')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--endpoint-reconciler-type=none',
  ]
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const kubectl = async (args, input) => {
    const { ok, stdout, stderr } = await execute({ command: programs.kubectl, args, input, env })
    if (!ok) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const isReady = () =>
    kubectl(['get', '--raw', '/readyz', '--request-timeout=5s']).then(
      () => true,
      () => false,
    )
  const etcd = startChild(program('etcd', programs.etcd, etcdArgs))
  let apiServer
  async function stop() {
    await apiServer?.stop()
    await etcd.stop()
  }
  try {
    const options = program('kube-apiserver', programs.apiServer, serverArgs)
    apiServer = await startReadyChild({ ...options, probe: isReady, readyMs: 300_000 })
    const { gitVersion } = JSON.parse(await kubectl(['get', '--raw', '/version']))
    return { version: gitVersion, env, kubectl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function access({ port, token }) {
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  }
}
