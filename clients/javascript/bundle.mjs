// Writes the web client as one minified module, `dist/min.js`, for pages without a bundler.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { minify } from 'terser'

/**
 * The names of properties that only the client's own modules use. These names may be shortened.
 * Names in the DOM, the public interface, requests and stored data are not in this list, because
 * other programs or other releases read them.
 */
export const internal =
  'adopt allDropped areDropsNew attempt attempted byteCount clearTimeout clock consent context contextOf count date droppedNames end events exchange failures feedbacks flushTimer form generation gzip inOrder isBusy isDefinite isDue isHeld isLast isLoaded isNew isOut isResting isShut isTooLarge isUrgent keepAttachment keptUuid keepaliveBytes keepaliveBytesMax key known lastFailure learn leavePage leavesOut lines list logDevice loops mayBeStored memory monotonic newId nextId nextSequence observe oldest options pageEndBytes path ports readDevice records refusals refused remove rename reportDrops retryAfter retryAfterMs runSuffix save segment segments send sendAtPageEnd senderOf sending setTimeout shiftFor shiftMs start starting state stopReason transport unreported unsettled user uuid waiting wake wantsOut within written writeDelayMs writeTimer'

/**
 * Gives the shortest names to the properties that the code uses most.
 *
 * @param {string} code
 */
function nameProperties(code) {
  const words = code.match(/\w+/g) ?? []
  const uses = (/** @type {string} */ name) => words.filter((word) => word === name).length
  const letters = 'atinoresdflubzghyqcvpxwjkm'.split('')
  const frequent = letters.slice(0, 12)
  const pairs = frequent.flatMap((one) => frequent.map((other) => one + other))
  const short = letters.concat(pairs.filter((pair) => !words.includes(pair)))
  const names = internal.split(' ').toSorted((one, other) => uses(other) - uses(one))
  return { props: { props: Object.fromEntries(names.map((name, at) => [`$${name}`, short[at]])) } }
}

/** @returns {Promise<string>} the minified script */
export async function bundleWeb() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/web/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2019',
    minifySyntax: true,
  })
  const { text } = outputFiles[0]
  const { code } = await minify(text, {
    module: true,
    ecma: 2019,
    nameCache: nameProperties(text),
    compress: {
      passes: 3,
      inline: /** @type {never} */ (1),
      if_return: false,
      booleans: false,
      lhs_constants: false,
      hoist_vars: true,
      unsafe: true,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
      unsafe_math: true,
    },
    mangle: {
      properties: { builtins: true, regex: new RegExp(`^(${internal.replaceAll(' ', '|')})$`) },
    },
  })
  // Replaces `const` and `var` by `let`, because code with one keyword for all declarations
  // compresses better. No string in the client contains these words.
  return code.replace(/\b(?:const|var)\b/g, 'let')
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('dist/min.js', import.meta.url), await bundleWeb())
