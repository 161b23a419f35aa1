import { quote } from './definition.ts'

/** Frames of these belong to the platform: they differ between devices and are shared by crashes. */
const platformFrames = [
  /^(?:java|javax|jdk|sun|libcore|dalvik|android|androidx|com\.android|kotlin|kotlinx)\./,
  /\((?:dart:|package:flutter\/)|^(?:dart:|package:flutter\/)/,
  /\bnode:|\(native\)|\[native code\]|^<asynchronous suspension>$/,
  /^(?:lib\w[\w.+-]*\.dylib|dyld|Foundation|Core\w+|UIKit\w*|SwiftUI\w*|QuartzCore|GraphicsServices|AttributeGraph|FrontBoard\w*|RunningBoard\w*)\s/,
]

/** How a line begins that is a frame: Java, V8 and Hermes; Dart; Apple; Firefox and Safari. */
const frames = [
  /^at /,
  /^#\d+ /,
  /^\d+\s+\S.*\s0x[0-9a-fA-F]+\s/,
  /^[^@]*@(?:\[native code\]|\S+:\d+)$/,
  /^(?:package|dart):\S+ /,
]

/** What is before or after the name in a frame, and what replaces it, in this order. */
const framePrefixes: readonly Replacement[] = [
  [/^(?:at |#\d+\s+|\d+\s+)(?:async )?/, ''],
  // Java prints the loader and the module of a class: app//, java.base/.
  [/^(?:[\w.@-]+\/)+([\w$.<>]+\()/, String.raw`\1`],
  [/^([^@]*)@/, String.raw`\1 `],
]

/** What changes from release to release, device to device and run to run. */
const variables: readonly Replacement[] = [
  [/[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}/, ''],
  [/\b0x[0-9a-fA-F]+/, ''],
  // A path or an address: only the name of the file remains.
  [/(?:[a-z][a-z+.-]*:\/\/)?[\w.@~%:+=-]*[/\\](?:[\w.@~%:+= -]*[/\\])*/, ''],
  [/\?[^\s:)]*/, ''],
  // The hash in the name of a bundle: index-BxK3_9aZ.js, main.3f9ac2d1.chunk.js.
  [/[-.][\w-]{8}((?:\.[a-z]+)?\.m?js)\b/, String.raw`\1`],
  [/\b[0-9a-fA-F]{7,}\b/, ''],
  [/\((?:SourceFile|Unknown Source|Native Method)[^)]*\)|address at /, ''],
  [/\d+/, ''],
  [/[\s:+()]+/, ' '],
]

/** Texts in messages that name a person, a file or a value. */
const quoted: readonly Replacement[] = [[/'[^']*'|"[^"]*"|`[^`]*`|\S+@\S+/, '']]

/** The name of an exception at the beginning of a message. */
const typeName =
  /^(?:Exception in thread "[^"]*" |Caused by: |Uncaught |Unhandled Exception: )?([A-Za-z_$][\w.$ ]*?)\s*(?:\([^)]*\))?(?::|$)/

const framesMax = 5
const charactersMax = 100_000
/** A replacement can take a time that grows with the square of a line that a client made up. */
const lineMax = 2_000

type Replacement = readonly [RegExp, string]

const regex = ({ source }: RegExp) => quote(source)
const anyOf = (patterns: readonly RegExp[]) =>
  quote(patterns.map(({ source }) => `(?:${source})`).join('|'))
const without = (text: string, replacements: readonly Replacement[]) =>
  replacements.reduce(
    (sql, [pattern, by]) => `replaceRegexpAll(${sql}, ${regex(pattern)}, ${quote(by)})`,
    text,
  )
/** SQL that computes `value` once and uses it in `result` by its name. */
const bind = (name: string, value: string, result: string) =>
  `arrayMap(${name} -> ${result}, [${value}])[1]`

/**
 * Returns SQL for the fingerprint of a crash: 16 hexadecimal digits, the same for the same stack
 * trace of two releases. They are the hash of the exception's type and the first frames of the
 * application, without numbers, addresses, ids and paths. A text without frames counts as a whole.
 * Of a Java exception with causes, the innermost cause counts: the others repeat it. NULL counts as
 * an empty text.
 */
export const fingerprint = (text: string): string =>
  bind(
    'lines',
    `arrayMap(line -> trimBoth(substring(line, 1, ${lineMax})), splitByChar('\\n', ${rootCause(`substring(ifNull(toString(${text}), ''), 1, ${charactersMax})`)}))`,
    bind(
      'trace',
      `arrayMap(line -> ${without('line', framePrefixes)}, arrayFilter(line -> match(line, ${anyOf(frames)}), lines))`,
      bind(
        'own',
        `arrayFilter(frame -> NOT match(frame, ${anyOf(platformFrames)}), trace)`,
        `substring(lower(hex(SHA256(if(empty(trace),
    arrayStringConcat(arrayMap(line -> ${without(without('line', quoted), variables)}, lines), '\\n'),
    concat(if(match(lines[1], ${anyOf(frames)}), '', extract(lines[1], ${regex(typeName)})), '\\n',
      arrayStringConcat(arrayMap(frame -> trimBoth(${without('frame', variables)}),
        arraySlice(if(empty(own), trace, own), 1, ${framesMax})), '\\n')))))), 1, 16)`,
      ),
    ),
  )

const rootCause = (text: string) =>
  bind('whole', text, `splitByString('\\nCaused by: ', whole)[-1]`)
