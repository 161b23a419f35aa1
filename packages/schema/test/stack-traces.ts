/** A build of an application: everything that differs between two of them. */
interface Release {
  /** Added to each line number. */
  shift: number
  /** Hexadecimal digits, for the names of files and for addresses. */
  hash: string
  user: string
  folder: string
}

const releases: readonly Release[] = [
  { shift: 0, hash: '3f9ac2d1', user: 'anna@example.com', folder: '/data/app/~~a1b2Q==/base.apk' },
  { shift: 17, hash: 'BxK-9_aZ', user: 'bo.li@example.org', folder: '/Users/ci/builds/7/app' },
]

/** A crash: the exception and its message, then its frames, the innermost first. */
type Crash = readonly [string, ...string[]]

const screens = ['Cart', 'Login', 'Profile', 'Search', 'Settings', 'Player', 'Chat', 'Map']

const javaCrashes: Crash[] = [
  ...screens.map((screen): Crash => [
    "java.lang.NullPointerException: Attempt to invoke virtual method 'int java.lang.String.length()' on a null object reference",
    `com.example.shop.${screen}Presenter.bind(${screen}Presenter.java:41)`,
    `com.example.shop.${screen}Activity.onCreate(${screen}Activity.java:88)`,
    'android.app.Activity.performCreate(Activity.java:8305)',
  ]),
  ...['first', 'last', 'pick'].map((method): Crash => [
    'java.lang.IndexOutOfBoundsException: Index 7 out of bounds for length 3',
    'jdk.internal.util.Preconditions.outOfBounds(Preconditions.java:64)',
    'jdk.internal.util.Preconditions.checkIndex(Preconditions.java:248)',
    'java.base/java.util.Objects.checkIndex(Objects.java:372)',
    'java.base/java.util.ArrayList.get(ArrayList.java:459)',
    `com.example.shop.Lists.${method}(Lists.java:12)`,
  ]),
  [
    'java.lang.OutOfMemoryError: Failed to allocate a 12345678 byte allocation with 4194304 free bytes',
    'com.example.shop.ImageCache.decode(ImageCache.java:77)',
  ],
  [
    'java.lang.IllegalStateException: user {user} has no session',
    'com.example.shop.ImageCache.decode(ImageCache.java:77)',
  ],
  [
    'java.lang.ClassCastException: com.example.A cannot be cast to com.example.B',
    'a.b.c.a(SourceFile:1)',
    'a.b.d.b(Unknown Source:14)',
  ],
  [
    'java.lang.ClassCastException: com.example.A cannot be cast to com.example.B',
    'a.b.e.a(SourceFile:1)',
    'a.b.d.b(Unknown Source:14)',
  ],
  [
    'android.os.DeadObjectException',
    'android.os.BinderProxy.transactNative(Native Method)',
    'android.os.BinderProxy.transact(BinderProxy.java:510)',
  ],
  [
    'java.util.concurrent.TimeoutException: {user} timed out after 10 seconds',
    'com.example.shop.Sync.lambda$run$3(Sync.java:61)',
    'com.example.shop.Sync.access$100(Sync.java:9)',
  ],
]

const kotlinCrashes: Crash[] = [
  ...screens.map((screen): Crash => [
    'kotlin.UninitializedPropertyAccessException: lateinit property adapter has not been initialized',
    `com.example.app.ui.${screen}Fragment.getAdapter(${screen}Fragment.kt:23)`,
    `com.example.app.ui.${screen}Fragment$load$1.invokeSuspend(${screen}Fragment.kt:57)`,
    'kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith(ContinuationImpl.kt:33)',
    'kotlinx.coroutines.DispatchedTask.run(DispatchedTask.kt:104)',
  ]),
  ...['load', 'save', 'sync', 'drop'].map((method): Crash => [
    `java.lang.RuntimeException: Unable to start activity ComponentInfo{com.example.app/com.example.app.Main}: java.lang.IllegalArgumentException: {user}
\tat android.app.ActivityThread.performLaunchActivity(ActivityThread.java:3654)
\tat android.app.ActivityThread.handleLaunchActivity(ActivityThread.java:3791)
Caused by: java.lang.IllegalArgumentException: {user}`,
    `com.example.app.data.Store.${method}(Store.kt:31)`,
    'com.example.app.Main.onCreate(Main.kt:19)',
    '... 12 more',
  ]),
  [
    "kotlinx.serialization.MissingFieldException: Field 'id' is required",
    'com.example.app.data.Order$$serializer.deserialize(Order.kt:8)',
  ],
  [
    "kotlinx.serialization.MissingFieldException: Field 'id' is required",
    'com.example.app.data.Basket$$serializer.deserialize(Basket.kt:8)',
  ],
  [
    'java.io.FileNotFoundException: {folder}/cache/77.tmp: open failed: ENOENT',
    'com.example.app.data.Files.open(Files.kt:5)',
    'com.example.app.data.Store.load(Store.kt:30)',
  ],
  [
    'java.io.FileNotFoundException: {folder}/cache/77.tmp: open failed: ENOENT',
    'com.example.app.data.Files.open(Files.kt:5)',
    'com.example.app.data.Store.save(Store.kt:60)',
  ],
  [
    'java.lang.NumberFormatException: For input string: "12a"',
    'com.example.app.ui.PriceKt.parse$default(Price.kt:3)',
  ],
]

const swiftCrashes: Crash[] = [
  ...screens.map((screen): Crash => [
    'Fatal error: Unexpectedly found nil while unwrapping an Optional value: file Shop/View.swift, line 42',
    `Shop $s4Shop${screen.length + 4}${screen}ViewC6reloadyyF`,
    'Shop $s4Shop4MainC4loopyyF',
    'UIKitCore -[UIViewController loadViewIfRequired]',
  ]),
  ...['Cart', 'Feed', 'Menu', 'News'].map((screen): Crash => [
    'Fatal error: Index out of range',
    'libswiftCore.dylib $ss17_assertionFailure__4file4line5flagss5NeverOs12StaticStringV_SSAHSus6UInt32VtF',
    'libswiftCore.dylib $sSa15_checkSubscript_20wasNativeTypeCheckeds16_DependenceTokenVSi_SbtF',
    `Shop ${screen}View.row(at:)`,
    `Shop closure #1 in ${screen}View.body.getter`,
    'SwiftUI ViewBodyAccessor.updateBody(of:changed:)',
  ]),
  [
    'EXC_BAD_ACCESS (SIGSEGV): KERN_INVALID_ADDRESS at 0x0000000000000018',
    'libobjc.A.dylib objc_msgSend',
    'Shop -[SHPImageLoader finish:]',
  ],
  [
    'EXC_BAD_ACCESS (SIGSEGV): KERN_INVALID_ADDRESS at 0x0000000000000018',
    'libobjc.A.dylib objc_msgSend',
    'Shop -[SHPVideoLoader finish:]',
  ],
  [
    'NSInvalidArgumentException: -[__NSCFString count]: unrecognized selector sent to instance 0x600000',
    'CoreFoundation __exceptionPreprocess',
    'Shop -[SHPImageLoader finish:]',
  ],
  [
    'NSRangeException: *** -[__NSArrayM objectAtIndexedSubscript:]: index 3 beyond bounds [0 .. 2]',
    'CoreFoundation __exceptionPreprocess',
    'CoreFoundation -[__NSArrayM objectAtIndexedSubscript:]',
  ],
]

const names = [
  'submit',
  'render',
  'fetchOrders',
  'Cart.total',
  'Object.onClick',
  'useProfile',
  'reduce',
]

const chromeCrashes: Crash[] = [
  ...names.map((name): Crash => [
    "TypeError: Cannot read properties of undefined (reading 'id')",
    `${name} (https://shop.example/assets/index-{hash}.js?v=3:31:1204)`,
    'async load (https://shop.example/assets/index-{hash}.js?v=3:2:877)',
  ]),
  ...names.map((name): Crash => [
    'ReferenceError: price is not defined',
    `${name} (webpack-internal:///./src/views/cart.js:31:12)`,
    'invoke (https://shop.example/static/js/main.{hash}.chunk.js:2:8)',
  ]),
  [
    "TypeError: Cannot read properties of undefined (reading 'id')",
    'https://shop.example/assets/cart-{hash}.js:1:2034',
  ],
  [
    "TypeError: Cannot read properties of undefined (reading 'id')",
    'https://shop.example/assets/login-{hash}.js:1:2034',
  ],
]

const safariCrashes: Crash[] = [
  ...names.map((name): Crash => [
    '',
    `${name}@https://shop.example/assets/index-{hash}.js:31:1204`,
    'global code@https://shop.example/assets/index-{hash}.js:2:877',
  ]),
  ...names
    .slice(0, 6)
    .map((name): Crash => [
      '',
      'map@[native code]',
      `${name}@https://cdn.example/v12/vendor-{hash}.js:9:31`,
    ]),
]

const hermesCrashes: Crash[] = [
  ...names.map((name): Crash => [
    "TypeError: Cannot read property 'id' of undefined",
    `${name} (address at {folder}/index.android.bundle:1:482710)`,
    'apply (native)',
    'anonymous (address at {folder}/index.android.bundle:1:91233)',
  ]),
  ...names.map((name): Crash => [
    'Error: Request 8b2e6f5c-7f36-4a8e-9b34-0f0e3d1c2b4a of {user} failed',
    `${name} (http://10.0.2.2:8081/index.bundle?platform=android&dev=false&hash={hash}:31:12)`,
    '?anon_0_ (address at InternalBytecode.js:1:1432)',
  ]),
]

const dartCrashes: Crash[] = [
  ...screens.map((screen): Crash => [
    'Null check operator used on a null value',
    `_${screen}State.build (package:shop/${screen.toLowerCase()}.dart:42:7)`,
    'StatefulElement.build (package:flutter/src/widgets/framework.dart:5743:27)',
    'ComponentElement.performRebuild (package:flutter/src/widgets/framework.dart:5631:15)',
  ]),
  ...['add', 'remove', 'clear', 'total'].map((method): Crash => [
    'Bad state: No element',
    'List.first (dart:core-patch/growable_array.dart:343:5)',
    `Cart.${method} (package:shop/cart.dart:17:22)`,
    'Cart.checkout.<anonymous closure> (package:shop/cart.dart:90:3)',
    '<asynchronous suspension>',
  ]),
  [
    "type 'String' is not a subtype of type 'int' in type cast",
    'new Order.fromJson (package:shop/order.dart:9:31)',
  ],
  [
    "type 'String' is not a subtype of type 'int' in type cast",
    'new Item.fromJson (package:shop/item.dart:9:31)',
  ],
  [
    'RangeError (index): Invalid value: Not in inclusive range 0..2: 3',
    'Cart.add (package:shop/cart.dart:17:22)',
  ],
]

const printers: Record<string, [Crash[], (frame: string, at: number, release: Release) => string]> =
  {
    java: [javaCrashes, (frame) => (frame.startsWith('...') ? `\t${frame}` : `\tat ${frame}`)],
    kotlin: [kotlinCrashes, (frame) => (frame.startsWith('...') ? `\t${frame}` : `\tat ${frame}`)],
    swift: [
      swiftCrashes,
      (frame, at, { shift }) => {
        const [module = '', ...symbol] = frame.split(' ')
        const address = `0x${(0x1_04f3_c5a8 + shift * 4096).toString(16).padStart(16, '0')}`
        return `${String(at).padEnd(4)}${module.padEnd(35)} ${address} ${symbol.join(' ')} + ${120 + shift}`
      },
    ],
    chrome: [chromeCrashes, (frame) => `    at ${frame}`],
    safari: [safariCrashes, (frame) => frame],
    hermes: [hermesCrashes, (frame) => `    at ${frame}`],
    dart: [dartCrashes, (frame, at) => (frame.startsWith('<') ? frame : `#${at}      ${frame}`)],
  }

/** The stack traces of about a hundred crashes, each of two releases. */
export const stackTraces: { crash: string; text: string }[] = Object.entries(printers).flatMap(
  ([platform, [crashes, printFrame]]) =>
    crashes.flatMap(([message, ...frames], number) =>
      releases.map((release) => {
        const lines = frames.map((frame, at) => printFrame(frame, at, release))
        const text = [message, ...lines]
          .filter((line) => line !== '')
          .join('\n')
          .replaceAll('{hash}', release.hash)
          .replaceAll('{user}', release.user)
          .replaceAll('{folder}', release.folder)
          .replaceAll(
            /:(\d+)(?=[):\n]|$)/g,
            (_, line: string) => `:${Number(line) + release.shift}`,
          )
        return { crash: `${platform} ${number}`, text }
      }),
    ),
)
