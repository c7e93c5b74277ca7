/**
 * The bytes as C++ string literals. Three octal digits each, so that no digit after an escape can belong to it.
 * @param {Uint8Array} bytes
 */
export function literal(bytes) {
  const bytesPerLine = 4096;
  const lines = [];
  for (let start = 0; start < bytes.length; start += bytesPerLine) {
    let line = '';
    for (const byte of bytes.subarray(start, start + bytesPerLine)) {
      const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c && byte !== 0x3f;
      line += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
    }
    lines.push(`"${line}"`);
  }
  return lines.length === 0 ? '""' : lines.join('\n');
}
