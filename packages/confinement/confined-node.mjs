// Runs Node as a program that can open only its own files. This is plain JavaScript, like every
// script that is started as a separate process.
import { fileURLToPath } from 'node:url'
import { becomeProgram, confine } from './landlock.mjs'

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))

const program = [process.execPath, pathOf('..'), pathOf('../../../node_modules')]
const libraries = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store']
const system = ['/etc/ld.so.cache', '/etc/localtime', '/usr/share/zoneinfo']

/**
 * Replaces this process by Node with a script of this folder. The new process can write only
 * `writable` and listen only on `port`. It can read only `readable`, `writable`, and the files that
 * Node and the script need.
 */
export function becomeConfinedNode({ script, args, readable = [], writable, port }) {
  confine({
    readable: [...program, ...libraries, ...system, ...readable],
    writable: [...writable, '/dev/null'],
    port,
  })
  // Without this option Node exits if it may not read an existing OpenSSL configuration.
  becomeProgram(process.execPath, ['--openssl-config=/dev/null', pathOf(script), ...args])
}
