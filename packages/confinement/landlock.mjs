// Calls Landlock (https://docs.kernel.org/userspace-api/landlock.html) and exec through the C
// library, because Node provides neither. With Landlock, a process on Linux gives up rights
// permanently, without being root. With exec, the process becomes another program, which does not
// get the rights back.
import { closeSync, openSync, statSync } from 'node:fs'
import { DataType, load, open } from 'ffi-rs'

// Renaming between folders needs version 2 of Landlock: version 1 always forbids it.
const filesVersionMin = 2
const networkVersionMin = 4
const createRuleset = 444
const addRule = 445
const restrictSelf = 446
const closeRange = 436
const closeOnExec = 4
const lastDescriptor = 2 ** 32 - 1
const noNewPrivileges = 38
const setDescriptorFlags = 2

const execute = 1n << 0n
const writeFile = 1n << 1n
const readFile = 1n << 2n
const readFolder = 1n << 3n
const truncate = 1n << 14n
const bindTcp = 1n << 0n
const connectTcp = 1n << 1n

/** All file rights that this version of Landlock knows. */
const fileRights = (version) => (1n << (version >= 5 ? 16n : version >= 3 ? 15n : 14n)) - 1n

/**
 * Returns two reasons: why this system cannot restrict a process to given files (`files`), and why
 * it cannot restrict a process to a given port (`network`). A reason is undefined if the system can
 * do it.
 */
export function obstacles() {
  if (process.platform !== 'linux') return { files: 'it is not Linux', network: 'it is not Linux' }
  const version = landlockVersion()
  const [files, network] = [
    version < filesVersionMin ? 'it has no Landlock (Linux 5.19)' : undefined,
    version < networkVersionMin ? 'it has no Landlock for networks (Linux 6.7)' : undefined,
  ]
  return { files, network }
}

/**
 * Confines the calling thread to these paths and the files below them. This also applies to every
 * process that the thread starts or becomes. Paths that do not exist are ignored. If Landlock can
 * restrict TCP (see `obstacles`), TCP sockets can be bound only to `port` and cannot be connected.
 * Other protocols are not restricted.
 */
export function confine({ readable, writable, port }) {
  const version = landlockVersion()
  const all = fileRights(version)
  const hasNetwork = version >= networkVersionMin
  const attributes = hasNetwork ? words(all, bindTcp | connectTcp) : words(all)
  const rules = systemCall(createRuleset, attributes, attributes.length, 0)

  const allow = (path, onFolder, onFile) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    if (isFolder === undefined) return
    const file = openSync(path, 'r')
    const rule = Buffer.concat([words((isFolder ? onFolder : onFile) & all), int(file)])
    systemCall(addRule, rules, 1, rule, 0)
    closeSync(file)
  }
  for (const path of readable) allow(path, readFolder | readFile | execute, readFile | execute)
  for (const path of writable) allow(path, all & ~execute, readFile | writeFile | truncate)
  if (hasNetwork) systemCall(addRule, rules, 2, words(bindTcp, BigInt(port)), 0)

  call('prctl', noNewPrivileges, 1, 0, 0, 0)
  systemCall(restrictSelf, rules, 0)
  closeSync(rules)
}

/**
 * Replaces this process with another program, which keeps the pid and the standard streams. All
 * other descriptors are closed, even those that a parent process left open, because `confine` does
 * not restrict descriptors that are already open.
 */
export function becomeProgram(path, args) {
  systemCall(closeRange, 3, lastDescriptor, closeOnExec)
  // The standard streams must remain open. Node has set close-on-exec for them, so it is removed
  // here.
  for (const stream of [0, 1, 2]) call('fcntl', stream, setDescriptorFlags, 0)
  const pointers = [path, ...args].map((text) => BigInt(call('strdup', text)))
  call('execv', path, words(...pointers, 0n))
}

function landlockVersion() {
  try {
    return systemCall(createRuleset, 0, 0, 1)
  } catch {
    return 0 // not compiled in, switched off, or forbidden by a container
  }
}

const systemCall = (number, ...args) => call('syscall', number, ...args)

/** @throws when the function returns -1 */
function call(funcName, ...paramsValue) {
  open({ library: 'libc', path: 'libc.so.6' })
  const { value, errnoMessage } = load({
    library: 'libc',
    funcName,
    errno: true,
    retType: DataType.I64,
    paramsType: paramsValue.map(typeOf),
    paramsValue,
  })
  if (value === -1) throw new Error(`${funcName}: ${errnoMessage}`)
  return value
}

function typeOf(value) {
  if (typeof value === 'string') return DataType.String
  return typeof value === 'number' ? DataType.I64 : DataType.U8Array
}

function words(...values) {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index)
  return bytes
}

function int(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
