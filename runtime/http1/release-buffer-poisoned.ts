/** Fills bytes that their reader has given back, so that whoever still reads them reads nothing that looks right. */
export function releaseBuffer(bytes: Uint8Array): void {
  bytes.fill(0xdd);
}
