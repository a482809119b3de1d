/** Fails for one word in 2^32 only, but each correct letter covers a new block. */
export function planted(input: Uint8Array): void {
  const [first, second, third, fourth] = input;
  if (first !== 0x62) return;
  if (second !== 0x75) return;
  if (third !== 0x67) return;
  if (fourth !== 0x73) return;
  throw new Error(`planted in ${input.length} bytes`);
}
