import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needsClone } from '@intake/test-kit/needs-clone'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Patterns of types and functions that a statement must not contain, because their value depends on
 * the time zone of a server or session.
 */
const dependent = [
  // Matches `DateTime` as the type of a parameter, a cast or a column. Does not match it within a
  // longer name such as UUIDv7ToDateTime.
  /(?<![A-Za-z0-9_])DateTime(?:64\(\d\))?(?:[})\s,]|$)/,
  /\bDateTime64\(\d\)/,
  /\bDateTime\(\)/,
  /[<>]=? (?:today|yesterday)\(\)/,
  /\bnow(?:64\(\d\)|\(\)) [-+] (?:INTERVAL|toInterval)/,
  /\btoStartOf\w+\(now(?:64\(\d\)|\(\))/,
  /\btoDate\(now/,
  /\bwindowFunnel\(\d+\)\(\s*toDateTime\(/,
] as const

/** Returns all parts of a text that match a pattern of `dependent`. */
function findDependent(text: string): string[] {
  return dependent.flatMap((pattern) =>
    Array.from(text.matchAll(new RegExp(pattern, 'gm')), (match) => match[0].trim()),
  )
}

t.test('the check finds what depends on a zone, and nothing else', (t) => {
  for (const sql of [
    'time >= {from:DateTime}',
    'time >= {from:DateTime64(3)} AND true',
    '{finished:Nullable(DateTime64(3))}',
    '::Tuple(time DateTime64(3), event String)',
    'at DateTime,',
    'at DateTime DEFAULT now()',
    'time > now() - INTERVAL 1 DAY',
    'time >= today()',
    'minute = toStartOfMinute(now())',
    'windowFunnel(3600)(toDateTime(time), true)',
  ])
    t.not(findDependent(sql).length, 0, sql)
  for (const sql of [
    "time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime('UTC')}",
    "UUIDv7ToDateTime(id, 'UTC')",
    "applied_at DateTime64(3, 'UTC') DEFAULT now64(3)",
    "time > now('UTC') - INTERVAL 1 DAY",
    'performance.now() - began',
    'windowFunnel(3600000)(toUInt64(toUnixTimestamp64Milli(time)))',
  ])
    t.same(findDependent(sql), [], sql)
  t.end()
})

t.test('no statement and no documented query depends on a zone', needsClone, (t) => {
  const patterns = ['*.ts', '*.mjs', '*.md', '*.json', '*.yml', '*.yaml', '*.sh', '*.xml']
  const files = execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))
  t.ok(files.length > 500, `${files.length} files`)
  for (const file of files) {
    // This file itself contains the forbidden forms.
    if (file === 'test/time-zones.test.ts') continue
    const found = findDependent(readFileSync(join(root, file), 'utf8'))
    if (found.length > 0) t.same(found, [], file)
  }
  t.end()
})
