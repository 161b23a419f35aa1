// Runs a script that can read only what it is given, write nothing, and use no network, if the
// system supports this; otherwise runs it unconfined. The argument is JSON: `options` of Node, the
// absolute path of the `script`, and the paths that are `readable`. The last argument of the script
// says why it is not confined; it is empty if the script is.
const { options, script, readable } = JSON.parse(process.argv[2])

let obstacle
try {
  // Loaded here, because ffi-rs is not available for every platform.
  const { obstacles } = await import('./landlock.mjs')
  const found = obstacles()
  obstacle = found.files ?? found.systemCalls
} catch {
  obstacle = 'ffi-rs cannot be loaded'
}
if (obstacle === undefined) {
  const { becomeConfinedNode } = await import('./confined-node.mjs')
  becomeConfinedNode({ options, script, args: [''], readable })
} else {
  process.argv.splice(1, process.argv.length, script, obstacle)
  await import(script)
}
