/** Bytes of a line that are kept, without its newline. */
export const keptLineMax = 16_384;

/** The text of a line, with its newline; of a longer one its begin, and what it lacks. */
export function cutLine(text: string): string {
  const line = text.endsWith("\n") ? text.slice(0, -1) : text;
  const bytes = Buffer.from(line);
  if (bytes.length <= keptLineMax) return `${line}\n`;
  // Not within a character.
  let end = keptLineMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)} [cut: ${bytes.length - end} bytes were not kept]\n`;
}
