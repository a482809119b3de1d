const words: ReadonlyMap<string, boolean> = new Map([
  ...["true", "t", "1", "yes", ""].map((word) => [word, true] as const),
  ...["false", "f", "0", "no"].map((word) => [word, false] as const),
]);

/** Every spelling, in lower case. */
export const booleanWords: readonly string[] = [...words.keys()];

/** The boolean that `text` spells in any case (contract §1.3), or undefined. Empty text is true. */
export function parseBoolean(text: string): boolean | undefined {
  return words.get(text.toLowerCase());
}
