// Runs Node as a program that can open only its own files. This is plain JavaScript, like every
// script that is started as a separate process.
import { becomeProgram, confine } from './landlock.mjs'

const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store']
const system = ['/etc/ld.so.cache', '/etc/localtime', '/usr/share/zoneinfo']

/**
 * Replaces this process by Node with a script, whose path is absolute. The new process can write
 * only `writable`. It can read only `readable`, `writable`, and the files that Node itself needs. It
 * can listen only on `port`; without a port it cannot use any network.
 *
 * @param options options of Node, before the script
 * @param withoutReadWriteCreate see `confine`
 */
export function becomeConfinedNode({
  options = [],
  script,
  args = [],
  readable,
  writable = [],
  port,
  withoutReadWriteCreate,
}) {
  confine({
    readable: [process.execPath, ...libraries, ...system, ...readable],
    writable: [...writable, '/dev/null'],
    port,
    withoutReadWriteCreate,
  })
  // Without this option Node exits if it may not read an existing OpenSSL configuration.
  const all = ['--openssl-config=/dev/null', ...options, script, ...args]
  becomeProgram(process.execPath, all)
}
