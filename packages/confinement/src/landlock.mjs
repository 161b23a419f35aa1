// Calls Landlock (https://docs.kernel.org/userspace-api/landlock.html), seccomp and exec through the
// C library, because Node provides none of them. With Landlock and seccomp, a process on Linux gives
// up rights permanently, without being root. With exec, the process becomes another program, which
// does not get the rights back.
import { closeSync, openSync, statSync } from 'node:fs'
import { DataType, load, open } from 'ffi-rs'

// Renaming between folders needs version 2 of Landlock: version 1 always forbids it.
const filesVersionMin = 2
const networkVersionMin = 4
/** From this version on, a process cannot signal processes outside, or use their sockets. */
const scopesVersionMin = 6
const createRuleset = 444
const addRule = 445
const restrictSelf = 446
const closeRange = 436
const closeOnExec = 4
const lastDescriptor = 2 ** 32 - 1
const noNewPrivileges = 38
const setDescriptorFlags = 2
const setSeccomp = 22
const filterMode = 2

const execute = 1n << 0n
const writeFile = 1n << 1n
const readFile = 1n << 2n
const readFolder = 1n << 3n
const truncate = 1n << 14n
const bindTcp = 1n << 0n
const connectTcp = 1n << 1n
const allScopes = 3n

/** What a filter needs to know of a processor: its name for Linux, and numbers of system calls. */
const processors = {
  x64: { name: 0xc000003e, socket: 41, openat: 257 },
  arm64: { name: 0xc00000b7, socket: 198, openat: 56 },
}
/** Every io_uring can make sockets without the system call `socket`. */
const ioUringSetup = 425

/** All file rights that this version of Landlock knows. */
const fileRights = (version) => (1n << (version >= 5 ? 16n : version >= 3 ? 15n : 14n)) - 1n

/**
 * Returns three reasons: why this system cannot restrict a process to given files (`files`), why it
 * cannot restrict a process to a given port (`network`), and why it cannot forbid a process some
 * system calls (`systemCalls`). A reason is undefined if the system can do it.
 */
export function obstacles() {
  if (process.platform !== 'linux') {
    const reason = 'it is not Linux'
    return { files: reason, network: reason, systemCalls: reason }
  }
  const version = landlockVersion()
  const [files, network] = [
    version < filesVersionMin ? 'it has no Landlock (Linux 5.19)' : undefined,
    version < networkVersionMin ? 'it has no Landlock for networks (Linux 6.7)' : undefined,
  ]
  const isKnown = process.arch in processors
  const systemCalls = !isKnown
    ? `its processor is ${process.arch}`
    : hasSeccomp()
      ? undefined
      : 'it has no filters of seccomp'
  return { files, network, systemCalls }
}

/**
 * Confines the calling thread to these paths and the files below them. This also applies to every
 * process that the thread starts or becomes. Paths that do not exist are ignored. If Landlock can
 * restrict TCP (see `obstacles`), TCP sockets can be bound only to `port` and cannot be connected.
 * Other protocols are not restricted. Without a port, no socket of any kind can be made.
 *
 * @param withoutReadWriteCreate forbids to open a file for reading and writing in a way that creates
 * the file if it does not exist. A file that is opened only for writing can still be created.
 */
export function confine({ readable, writable, port, withoutReadWriteCreate = false }) {
  const version = landlockVersion()
  const all = fileRights(version)
  const hasNetwork = version >= networkVersionMin
  const attributes = words(
    all,
    ...(hasNetwork ? [bindTcp | connectTcp] : []),
    ...(version >= scopesVersionMin ? [allScopes] : []),
  )
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
  if (hasNetwork && port !== undefined)
    systemCall(addRule, rules, 2, words(bindTcp, BigInt(port)), 0)

  call('prctl', noNewPrivileges, 1, 0, 0, 0)
  systemCall(restrictSelf, rules, 0)
  closeSync(rules)
  if (port === undefined) denySockets()
  if (withoutReadWriteCreate) denyReadWriteCreate()
}

/** Instructions of filters, and what a filter can return. */
const [read, and, ifEqual, ifAtLeast, end] = [0x20, 0x54, 0x15, 0x35, 0x06]
const [allow, notPermitted, accessDenied] = [0x7fff0000, 0x00050001, 0x0005000d]
/** System calls of x32, another architecture of the same processor. */
const firstOfX32 = 0x40000000
/** Where a filter reads the number of the system call, the architecture, and the third argument. */
const [ofNumber, ofArchitecture, ofThirdArgument] = [0, 4, 32]
const [readWrite, create, accessModes] = [0o2, 0o100, 0o3]

/**
 * Makes every attempt to make a socket fail with EPERM, also by system calls of another
 * architecture. Pairs of connected sockets remain: they lead nowhere else.
 */
function denySockets() {
  const { name, socket } = processors[process.arch]
  addFilter([
    [read, 0, 0, ofArchitecture],
    [ifEqual, 0, 5, name],
    [read, 0, 0, ofNumber],
    [ifAtLeast, 3, 0, firstOfX32],
    [ifEqual, 2, 0, socket],
    [ifEqual, 1, 0, ioUringSetup],
    [end, 0, 0, allow],
    [end, 0, 0, notPermitted],
  ])
}

/** Makes `openat`, which is what the C library calls, fail with EACCES for such an attempt. */
function denyReadWriteCreate() {
  const { name, openat } = processors[process.arch]
  addFilter([
    [read, 0, 0, ofArchitecture],
    [ifEqual, 0, 7, name],
    [read, 0, 0, ofNumber],
    [ifAtLeast, 5, 0, firstOfX32],
    [ifEqual, 0, 3, openat],
    [read, 0, 0, ofThirdArgument],
    [and, 0, 0, create | accessModes],
    [ifEqual, 1, 0, create | readWrite],
    [end, 0, 0, allow],
    [end, 0, 0, accessDenied],
  ])
}

/**
 * Adds a filter of system calls. Each instruction: what it does, how many to skip if its condition
 * is true and if not, a value.
 */
function addFilter(instructions) {
  const filter = instructions.map(([code, onTrue, onFalse, value]) => {
    const bytes = Buffer.alloc(8)
    bytes.writeUInt16LE(code, 0)
    bytes.writeUInt8(onTrue, 2)
    bytes.writeUInt8(onFalse, 3)
    bytes.writeUInt32LE(value, 4)
    return bytes
  })
  const program = Buffer.concat(filter)
  const address = call('malloc', program.length)
  call('memcpy', address, program, program.length)
  call('prctl', setSeccomp, filterMode, words(BigInt(filter.length), BigInt(address)), 0, 0)
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

/** Tries to set a filter at address 0. Linux reads the address only if filters are allowed. */
function hasSeccomp() {
  try {
    call('prctl', setSeccomp, filterMode, 0, 0, 0)
  } catch (error) {
    return error.message.endsWith('(os error 14)') // EFAULT
  }
  return false
}

const systemCall = (number, ...args) => call('syscall', number, ...args)

/** Functions that return an int. Read as 64 bits, their -1 would be 4,294,967,295. */
const returnsInt = new Set(['execv', 'fcntl', 'prctl'])

/** @throws when the function returns -1 */
function call(funcName, ...paramsValue) {
  open({ library: 'libc', path: 'libc.so.6' })
  const { value, errnoMessage } = load({
    library: 'libc',
    funcName,
    errno: true,
    retType: returnsInt.has(funcName) ? DataType.I32 : DataType.I64,
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
