/** A call id as it is stored; ids sort as their bytes do. */
export function callIdBytes(id: string): Uint8Array {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** The id of 16 stored bytes. */
export function callIdText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The smallest and the greatest id that begins with these hexadecimal digits. */
export function callIdRange(prefix: string): readonly [first: Uint8Array, last: Uint8Array] {
  return [Buffer.from(prefix.padEnd(32, "0"), "hex"), Buffer.from(prefix.padEnd(32, "f"), "hex")];
}
