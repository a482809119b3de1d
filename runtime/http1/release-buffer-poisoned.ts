/** Overwrites bytes that their reader released, so that a read after release yields obvious garbage. */
export function releaseBuffer(bytes: Uint8Array): void {
  bytes.fill(0xdd);
}
