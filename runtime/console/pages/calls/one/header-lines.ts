/** Headers as people write them, or why they cannot be read. */
export type HeaderLines =
  | { readonly kind: "headers"; readonly pairs: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: "unreadable"; readonly sentence: string };

/** Reads a header on each line, `Name: value`; empty lines count for nothing. */
export function parseHeaderLines(text: string): HeaderLines {
  const pairs: (readonly [string, string])[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      return { kind: "unreadable", sentence: `Line ${index + 1} is no header: write Name: value` };
    pairs.push([name, value]);
  }
  return { kind: "headers", pairs };
}
