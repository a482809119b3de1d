import type { ConsoleSizes } from "./make-console-files.ts";

/** Most bytes of each (figure C1); a kB is 1 000 bytes. */
const sizeLimits: Readonly<Record<keyof ConsoleSizes, { readonly most: number; readonly what: string }>> = {
  firstScripts: { most: 70_000, what: "JavaScript of the first page, gzip" },
  scripts: { most: 120_000, what: "JavaScript in all, gzip" },
  sheetGzip: { most: 8_000, what: "the sheet, gzip" },
  sheet: { most: 20_480, what: "the sheet" },
};

/** What is too large, a sentence each. */
export function tooLarge(sizes: ConsoleSizes): readonly string[] {
  return sizeRows(sizes).flatMap(({ what, size, most }) =>
    size > most ? [`The console is too large: ${what} has ${size} bytes, at most ${most} are allowed`] : [],
  );
}

/** Sizes and limits, for people. */
export function sizeRows(
  sizes: ConsoleSizes,
): readonly { readonly what: string; readonly size: number; readonly most: number }[] {
  const keys = ["firstScripts", "scripts", "sheetGzip", "sheet"] as const;
  return keys.map((key) => ({ size: sizes[key], ...sizeLimits[key] }));
}
