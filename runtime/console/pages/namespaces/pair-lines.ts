/** Labels or annotations as people write them, or why they cannot be read. */
export type PairLines =
  | { readonly kind: "pairs"; readonly pairs: Readonly<Record<string, string>> }
  | { readonly kind: "unreadable"; readonly sentence: string };

/** Reads a pair on each line, `key=value`; empty lines count for nothing. */
export function parsePairLines(text: string): PairLines {
  const pairs = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const equals = line.indexOf("=");
    const key = line.slice(0, Math.max(equals, 0)).trim();
    if (key === "") return { kind: "unreadable", sentence: `Line ${index + 1} is no pair: write key=value` };
    pairs.set(key, line.slice(equals + 1).trim());
  }
  return { kind: "pairs", pairs: Object.fromEntries(pairs) };
}

export function formatPairLines(pairs: Readonly<Record<string, string>> = {}): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join("\n");
}
