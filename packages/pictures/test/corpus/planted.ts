/**
 * The text that is planted in every piece of metadata. Planted positions contain its first four
 * letters as a number. A file that contains these letters, in either byte order, is not clean.
 */
export const planted = 'PLANTED-48.85837N-2.29448E-SERIAL-0042'
export const plantedNumber = Buffer.from('PLAN').readUInt32BE()

const traces = [Buffer.from('PLAN'), Buffer.from('NALP'), Buffer.from('PLANTED', 'utf16le')]

/** Whether the bytes contain a trace of the planted text. */
export function hasTrace(bytes: Buffer): boolean {
  return traces.some((trace) => bytes.includes(trace))
}

export const xmp = Buffer.from(
  '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">' +
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" ' +
    'xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" ' +
    'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6" ' +
    `exif:GPSLatitude="48,51.5022N" exif:GPSLongitude="2,17.6688E" dc:source="${planted}"/>` +
    '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>',
)

/** An IPTC record with a caption, in Photoshop's image resources. */
export function photoshop(): Buffer {
  const iptc = Buffer.concat([Buffer.from([0x1c, 2, 120, 0, planted.length]), Buffer.from(planted)])
  const head = Buffer.from('Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00', 'latin1')
  const size = Buffer.alloc(4)
  size.writeUInt32BE(iptc.length)
  return Buffer.concat([head, size, iptc, Buffer.alloc(iptc.length % 2)])
}

/**
 * Creates the film of a motion photo, which contains a planted position.
 *
 * @param marker the byte that follows a 0xff in the film. The two bytes look like a JPEG marker
 */
export function film(marker = 0): Buffer {
  return Buffer.concat([
    box('ftyp', Buffer.from('mp42\0\0\0\0isommp42')),
    box('moov', box('udta', box('\xa9xyz', Buffer.from(`\0\x12\x15\xc7${planted}/`, 'latin1')))),
    box('mdat', Buffer.from([0xff, marker, 0, 9]), Buffer.from(planted.repeat(20))),
  ])
}

export function box(type: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}
