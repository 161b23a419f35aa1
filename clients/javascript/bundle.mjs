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
const internal =
  'monotonic writeDelayMs keepAttachment runSuffix mayBeStored retryAfterMs shiftFor isDefinite unreported isBusy generation shiftMs failures events memory attempted hasUnsaved oldest isUrgent leavePage senderOf newId logDevice sending loops exchange keepaliveBytesMax keepaliveBytes sendAtPageEnd isAll isLast transport lines segment segments observe refused isHeld isAccepted adopt drops retryAfter path date total wake rename list read key user state clock nextId ports contextOf context pageEndBytes unsettled isTooLarge attempt leave save count bytes within send form remove add gzip uuid start sequence line options end stop setTimeout clearTimeout isOut isShut isLoaded reportDrops readDevice isNew droppedNames leavesOut learn isDue waiting flushTimer writeTimer consent wantsOut feedbacks inOrder nextSequence allDropped areDropsNew starting fields known imagesRefusal'

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
  const { code } = await minify(outputFiles[0].text, {
    module: true,
    ecma: 2019,
    compress: {
      passes: 5,
      inline: /** @type {never} */ (1),
      if_return: false,
      booleans: false,
      lhs_constants: false,
      unsafe: true,
      unsafe_arrows: true,
      pure_getters: true,
      keep_fargs: false,
      unsafe_comps: true,
      unsafe_math: true,
    },
    mangle: {
      properties: { builtins: true, regex: new RegExp(`^(${internal.replaceAll(' ', '|')})$`) },
    },
  })
  // Replaces `const` by `let`, because code with one keyword for all declarations compresses
  // better. No string in the client contains the word `const`.
  return code.replace(/\b(?:const|var)\b/g, 'let')
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('dist/min.js', import.meta.url), await bundleWeb())
