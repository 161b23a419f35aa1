import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { ConsoleConfig, GatewayConfig, WorkerConfig } from '@intake/config'
import { serve } from '@intake/test-kit/serve'

interface Service {
  image?: string
  build?: { target: string }
  command?: string[]
  environment?: Record<string, string>
  ports?: string[]
  profiles?: string[]
  volumes?: string[]
  networks?: string[] | Record<string, { aliases?: string[] } | null>
  network_mode?: string
  mem_limit?: string
  pids_limit?: number
  read_only?: boolean
  cap_drop?: string[]
  entrypoint?: string[]
  healthcheck?: { test: string[] }
}

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const text = readFileSync(pathOf('docker-compose.yml'), 'utf8')
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean; driver_opts?: Record<string, string> } | null>
}
const services = Object.entries(compose.services)
const networksOf = ({ networks = [] }: Service) =>
  Array.isArray(networks) ? networks : Object.keys(networks)

t.test('compose publishes every port on loopback by default', async (t) => {
  const ports = services.flatMap(([, service]) => service.ports ?? [])
  t.equal(ports.length, 8)
  for (const port of ports) t.match(port, /^(\$\{PUBLISH_HOST:-127\.0\.0\.1\}|127\.0\.0\.1):/)
})

t.test('docker compose up starts all of Intake, with the page', async (t) => {
  const found = services.flatMap(([name, { profiles }]) => (profiles === undefined ? [] : [name]))
  t.same(found, ['prometheus', 'grafana'])
  t.match(compose.services['console']?.ports, [/3004:?.*:3004$/])
})

t.test('compose has no secret with a default', async (t) => {
  const presets = text.match(/\$\{\w*(PASSWORD|SECRET|KEY|TOKEN)\w*:-[^}]+\}/g)
  t.same([...new Set(presets)], ['${S3_ACCESS_KEY:-intake}'], 'a user name')
  t.notMatch(text, /:\/\/[^\s/]*@/, 'and no URL with one')
  t.equal(compose.services['migrate']?.environment?.['INTAKE_API_KEY'], '${INTAKE_API_KEY:-}')
})

t.test('every service of compose is confined, its memory and processes limited', async (t) => {
  for (const [name, service] of services) {
    t.equal(service.read_only, true, name)
    t.same(service.cap_drop, ['ALL'], name)
    t.type(service.mem_limit, 'string', name)
    t.type(service.pids_limit, 'number', name)
  }
})

t.test('the engines of compose have no way out, and clients reach the gateway only', async (t) => {
  const wayOut = (name: string) => {
    const network = compose.networks[name]
    const masquerade = network?.driver_opts?.['com.docker.network.bridge.enable_ip_masquerade']
    return network?.internal !== true && masquerade !== 'false'
  }
  const members = (network: string) =>
    services.flatMap(([name, service]) => (networksOf(service).includes(network) ? [name] : []))
  t.same(members('edge'), ['gateway'])
  t.same(members('engines'), ['redis', 'clickhouse', 's3'])
  t.same(members('observability'), [
    'clickhouse',
    'gateway',
    'worker',
    'console',
    'prometheus',
    'grafana',
  ])
  t.same(
    services.flatMap(([name, service]) => (networksOf(service).some(wayOut) ? [name] : [])),
    ['gateway', 'worker', 'console'],
  )
  for (const [name, service] of services) {
    // A service publishes its ports in a network that is not internal. It must have only one such
    // network, because Docker would choose one of several arbitrarily.
    const open = networksOf(service).filter((network) => !compose.networks[network]?.internal)
    t.ok(open.length === (service.ports || open.length > 0 ? 1 : 0), `${name}: ${String(open)}`)
    t.ok(networksOf(service).length > 0 || service.network_mode === 'none', name)
  }
})

t.test('the admin port of a worker is on the internal networks, unless it is published', (t) => {
  for (const [name, { build, ports, environment }] of services) {
    if (build?.target !== 'worker') continue
    t.equal(environment?.['ADMIN_HOST'], ports ? '0.0.0.0' : 'internal', name)
  }
  t.end()
})

t.test('the daily commands have what other commands have of gateways', async (t) => {
  const { migrate, daily } = compose.services
  const [wanted, found] = [migrate, daily].map((one) => one?.environment?.['REDIS_ACK_REPLICAS'])
  t.type(wanted, 'string')
  t.equal(found, wanted)
})

t.test('with managed engines commands reach the admin ports too, and people the page', (t) => {
  const managed = parse(readFileSync(pathOf('deploy/compose.managed.yml'), 'utf8'), {
    merge: true,
  }) as { services: Record<string, Service> }
  const { setup, daily, gateway, worker, console } = managed.services
  const settings = Object.entries(compose.services['migrate']?.environment ?? {})
  const admins = settings.filter(([name]) => name.endsWith('_ADMIN_URL'))
  t.same(setup?.environment, Object.fromEntries(admins))
  t.same(daily?.command, compose.services['daily']?.command, 'a failure is repeated soon')
  for (const service of [gateway, worker, console])
    t.equal(service?.environment?.['ADMIN_HOST'], '0.0.0.0')
  t.same(gateway?.ports, ['127.0.0.1:3000:3000'])
  t.same(console?.ports, ['127.0.0.1:3004:3004'])
  t.end()
})

t.test('Prometheus finds every worker, however many there are', async (t) => {
  const scrape = parse(readFileSync(pathOf('deploy/observability/prometheus.yml'), 'utf8')) as {
    scrape_configs: { dns_sd_configs: { names: string[] }[] }[]
  }
  const namesIn = (network: string) =>
    services.map(([name, { networks = [] }]) => {
      if (Array.isArray(networks)) return networks.includes(network) ? [name] : []
      return network in networks ? [name, ...(networks[network]?.aliases ?? [])] : []
    })
  const names = namesIn('observability')
  const asked = scrape.scrape_configs.flatMap((job) =>
    job.dns_sd_configs.flatMap((dns) => dns.names),
  )
  t.same(asked, ['gateway', 'worker', 'console', 'clickhouse'])
  for (const name of asked) t.ok(names.flat().includes(name), name)
  const workers = services.flatMap(([, { build }], index) =>
    build?.target === 'worker' ? [names[index]] : [],
  )
  t.equal(workers.length, 1)
  for (const own of workers) t.ok(own?.includes('worker'), String(own))
})

t.test('the images of others have a version and a digest, and can be replaced', async (t) => {
  for (const [name, { image, build }] of services) {
    if (build) continue
    t.match(image, /^\$\{[A-Z0-9]+_IMAGE:-[^:]+:[^:@]*\d[^:@]*@sha256:[0-9a-f]{64}\}$/, name)
  }
  for (const file of ['deploy/Dockerfile', 'deploy/minio.Dockerfile']) {
    const bases = readFileSync(pathOf(file), 'utf8').match(/^ARG \w+_IMAGE=.*$/gm) ?? []
    for (const base of bases) t.match(base, /=[a-z]+:\d[^@]*@sha256:[0-9a-f]{64}$/)
    const stages = [...readFileSync(pathOf(file), 'utf8').matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
    const own = new Set(stages.map(([, , name]) => name))
    const others = stages.map(([, from]) => from).filter((from) => !own.has(from))
    t.not(others.length, 0)
    for (const from of others) t.match(from, /^\$\{\w+_IMAGE\}$/)
  }
})

t.test('the object store is built from the version that npm run test:s3 has tried', async (t) => {
  const module = /github\.com\/minio\/minio@\S+?(?=['\s])/
  const [built] = module.exec(readFileSync(pathOf('deploy/minio.Dockerfile'), 'utf8')) ?? []
  const [tried] = module.exec(readFileSync(pathOf('tools/scripts/test-s3.mjs'), 'utf8')) ?? []
  t.type(built, 'string')
  t.equal(built, tried)
})

t.test('the secrets of compose', async (t) => {
  const folder = t.testdir()
  const run = (args: string[], env: Record<string, string> = {}) =>
    spawnSync('sh', [pathOf('deploy/secrets.sh'), ...args], {
      env: {
        PATH: process.env['PATH'],
        SECRETS: folder,
        REDIS_ACL: pathOf('deploy/redis/users.acl'),
        S3_ACCESS_KEY: 'intake',
        ...env,
      },
      encoding: 'utf8',
      timeout: 60_000,
    })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [],
    )
  const contents = () => new Map(files().map((name) => [name, read(name)]))

  t.equal(run(['make']).stderr, '')
  const first = contents()

  t.test('are random and differ from each other', async (t) => {
    const kept = files().filter((name) => name.startsWith('kept/'))
    t.equal(kept.length, 11)
    t.equal(new Set(kept.map(read)).size, 11)
    for (const name of kept) t.match(read(name), /^[0-9a-f]{48}$/, name)
  })

  t.test('are URLs for the processes, and each gets no others', async (t) => {
    for (const [service, user] of [
      ['gateway', 'gateway'],
      ['worker', 'worker'],
      ['console', 'worker'],
      ['cli', 'operator'],
    ] as const) {
      const password = read(`kept/redis-${user}-password`)
      t.equal(read(`${service}/redis-url`), `redis://${user}:${password}@redis:6379`)
      t.match(read('redis/users.acl'), new RegExp(`^user ${user} on >${password} `, 'm'))
    }
    t.match(read('redis/users.acl'), `user default on >${read('redis/password')} `)
    t.notMatch(read('redis/users.acl'), 'PASSWORD')
    t.notMatch(text, /^\s*requirepass/m, 'gateways may read the configuration')
    t.same(readdirSync(join(folder, 'gateway')), ['redis-url', 's3-endpoint'])
    const url = (user: string, name = user) => `//${user}:${read(`kept/clickhouse-${name}`)}@`
    t.match(read('worker/clickhouse-url'), url('worker', 'worker-password'))
    t.same(readdirSync(join(folder, 'worker')), ['clickhouse-url', 'redis-url'])
    t.match(read('console/clickhouse-url'), url('worker', 'worker-password'))
    t.match(read('console/page-clickhouse-url'), url('reader', 'reader-password'))
    t.match(read('cli/clickhouse-url'), url('intake', 'password'))
    for (const other of ['clickhouse-password', 'clickhouse-analyst-password']) {
      const password = read(`kept/${other}`)
      t.notOk(
        files().some((name) => /^(worker|console)\//.test(name) && read(name).includes(password)),
      )
    }
  })

  t.test('are only hashes for ClickHouse, which would write copies beside its data', async (t) => {
    const users = ['analyst', 'intake', 'reader', 'worker']
    t.same(
      readdirSync(join(folder, 'clickhouse')),
      users.map((user) => `${user}-sha256`),
    )
    for (const user of users) {
      const kept = user === 'intake' ? 'clickhouse-password' : `clickhouse-${user}-password`
      const hash = createHash('sha256')
        .update(read(`kept/${kept}`))
        .digest('hex')
      t.equal(read(`clickhouse/${user}-sha256`), hash)
    }
    const config = readFileSync(pathOf('deploy/clickhouse/users.xml'), 'utf8')
    t.notMatch(config, /<password[ >]/)
    const asked = Array.from(
      config.matchAll(/from_env="CLICKHOUSE_(\w+)_PASSWORD_SHA256"/g),
      ([, user = '']) => user.toLowerCase(),
    )
    const seen = asked.toSorted((a, b) => a.localeCompare(b))
    t.same(seen, users)
    const { entrypoint } = compose.services['clickhouse'] ?? {}
    t.match(String(entrypoint), 'for user in intake worker reader analyst; do')
  })

  t.test('exist for every file that the services name', async (t) => {
    for (const [name, { environment = {}, volumes = [] }] of services) {
      const volume = volumes.find((mount) => mount.includes(':/run/intake-secrets:'))
      t.match(volume ?? ':ro', /:ro$/, name)
      for (const [setting, path] of Object.entries(environment)) {
        // A webhook has no secret until an operator gives one.
        if (!setting.endsWith('_FILE') || setting.startsWith('FEEDBACK_WEBHOOK')) continue
        const source = `${volume?.split('-secrets:')[0]}/${path.replace('/run/intake-secrets/', '')}`
        t.ok(first.has(source), `${name}: ${setting}`)
      }
    }
  })

  t.test('of the webhook are files for consoles only, as long as they are given', async (t) => {
    const given = {
      FEEDBACK_WEBHOOK_URL: 'https://hooks.example.com/a?b=c&d',
      FEEDBACK_WEBHOOK_SECRET: 'whsec_ab+/cd==',
      FEEDBACK_WEBHOOK_TOKEN: 'a token',
      FEEDBACK_WEBHOOKS: '[{"bundle":"com.example.*","url":"https://a.example?b=$c"}]',
    }
    t.equal(run([], given).stderr, '')
    for (const [name, value] of Object.entries(given)) {
      const file = name.toLowerCase().replaceAll('_', '-')
      t.equal(read(`console/${file}`), value)
      t.same(
        files().filter((one) => one.endsWith(file)),
        [`console/${file}`],
      )
      const { environment = {} } = compose.services['console'] ?? {}
      t.equal(environment[`${name}_FILE`], `\${${name}:+/run/intake-secrets/${file}}`)
      t.notOk(name in environment, `the console has no ${name} in its environment`)
    }
    t.equal(run([]).status, 0)
    t.same(contents(), first)
  })

  t.test('stay the same at the next start', async (t) => {
    const before = statSync(join(folder, 'gateway/redis-url')).mtimeMs
    t.equal(run([]).status, 0)
    t.same(contents(), first)
    t.equal(statSync(join(folder, 'gateway/redis-url')).mtimeMs, before)
  })

  t.test('are shown one at a time, and as URLs for programs on this machine', async (t) => {
    t.equal(run(['show', 'page-password']).stdout, `${read('kept/page-password')}\n`)
    t.match(run(['show', '../redis/password']).stderr, 'NAME is one of')
    const ports = { REDIS_PORT: '1', CLICKHOUSE_PORT: '2', S3_PORT: '3' }
    t.match(run(['env'], ports).stdout, /^export REDIS_URL=redis:\/\/default:\w+@127\.0\.0\.1:1$/m)
  })

  t.test('can be replaced by random ones, or by yours', async (t) => {
    t.equal(run(['rotate', 'redis-worker-password']).status, 0)
    t.not(read('worker/redis-url'), first.get('worker/redis-url'))
    t.equal(read('gateway/redis-url'), first.get('gateway/redis-url'))
    t.equal(run(['rotate', 'redis-password']).status, 0)
    t.not(read('redis/password'), first.get('redis/password'))
    t.match(read('redis/users.acl'), read('redis/password'))
    t.equal(read('clickhouse/intake-sha256'), first.get('clickhouse/intake-sha256'))

    t.equal(run(['make'], { REDIS_PASSWORD: 'mine' }).status, 0)
    t.equal(read('redis/password'), 'mine')
    t.equal(run(['make'], { REDIS_GATEWAY_PASSWORD: 'mine' }).status, 0)
    t.equal(read('gateway/redis-url'), 'redis://gateway:mine@redis:6379')
    const refused = run(['rotate', 'redis-password'], { REDIS_PASSWORD: 'mine' })
    t.match(refused.stderr, 'REDIS_PASSWORD has a value of yours')
  })

  t.test('that would break a URL are refused, without being printed', async (t) => {
    const { status, stdout, stderr } = run(['make'], { S3_SECRET_KEY: 'a/b@c' })
    t.equal(status, 1)
    t.match(stderr, 'S3_SECRET_KEY may have letters and digits only')
    t.notMatch(stdout + stderr, 'a/b@c')
    t.equal(run(['make'], { PAGE_PASSWORD: 'a/b "c 123456' }).status, 0, 'the page has no URL')
    t.equal(read('console/page-password'), 'a/b "c 123456')
    t.match(run(['make'], { PAGE_PASSWORD: 'a/b "c' }).stderr, 'at least 12 characters')
    writeFileSync(join(folder, 'kept/page-password'), 'short')
    t.match(run([]).stderr, 'rotate page-password')
    t.equal(run(['rotate', 'page-password']).status, 0)
  })
})

/** Returns the names of the settings that a process's image sets, such as `HOST` and `PORT`. */
function imageSettings(target: string): string[] {
  const dockerfile = readFileSync(pathOf('deploy/Dockerfile'), 'utf8')
  return ['runtime', target].flatMap((stage) => {
    const [, block = ''] = new RegExp(` AS ${stage}\\n([^]*?)(?=\\nFROM|$)`).exec(dockerfile) ?? []
    const values = [...block.matchAll(/^ENV (.*)$/gm)].map(([, value]) => value).join(' ')
    return Array.from(values.matchAll(/(\w+)=/g), ([, name]) => name!)
  })
}

for (const [service, config] of [
  ['gateway', GatewayConfig],
  ['worker', WorkerConfig],
  ['console', ConsoleConfig],
] as const) {
  t.test(`compose can set all settings of the ${service}, and no others`, async (t: Test) => {
    // Leaves out the settings for AWS accounts. No container gets them, because the object store in
    // compose has its own keys.
    const settings = Object.keys(config.properties).filter((name) => !name.startsWith('AWS_'))
    const known = [...settings, 'LOG_LEVEL']
    const given = new Map(Object.entries(compose.services[service]?.environment ?? {}))
    // The variable `NAME_FILE` can name a file that contains the value of the setting `NAME`.
    const names = [...given.keys()].map((name) =>
      known.includes(name) ? name : name.replace(/_FILE$/, ''),
    )
    const fixed = imageSettings(service)
    t.same(
      known.filter((name) => !names.includes(name) && !fixed.includes(name)),
      [],
      'not settable',
    )
    t.same(
      names.filter((name) => !known.includes(name)),
      [],
      'not known',
    )
    for (const [name, value] of given) {
      // An empty value selects the default of the process.
      if (value.endsWith(':-}')) t.equal(value, `\${${name}:-}`)
    }
  })
}

const hasWget = spawnSync('wget', ['--version']).status === 0

t.test('health checks use no proxy', { skip: hasWget ? false : 'needs wget' }, async (t) => {
  const { port } = await serve(t, (_request, response) => response.end())
  const checks = services.map(([, { healthcheck }]) => healthcheck?.test ?? [])
  const withWget = checks.filter((test) => test.includes('wget'))
  t.equal(withWget.length, 2)
  for (const [, program = '', ...args] of withWget) {
    const url = new URL(args.pop() ?? '')
    url.port = String(port)
    const env = { ...process.env, http_proxy: 'http://127.0.0.1:9' }
    await t.resolves(promisify(execFile)(program, [...args, url.href], { env }), url.pathname)
  }
})
