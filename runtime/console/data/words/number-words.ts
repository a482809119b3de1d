const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A count: `1,204`. */
export function countWords(value: number): string {
  return grouped.format(value);
}

/** `1 call`, `2 calls`; `calls` is the plural of `one` unless it is given. */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${countWords(value)} ${value === 1 ? one : many}`;
}

/** A rate per second, in three digits: `0`, `0.02`, `12.5`, `1.2K`. */
export function rateWords(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 0.01 ? "< 0.01" : short.format(perSecond);
}

/** A part of a whole: `0 %`, `< 0.1 %`, `2.5 %`, `100 %`. */
export function shareWords(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent < 0.1) return "< 0.1 %";
  return `${Number(percent.toFixed(percent < 10 ? 1 : 0))} %`;
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** A size in bytes: `5 B`, `12.5 KiB`. */
export function sizeWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), sizes.length - 1);
  const value = bytes / 1_024 ** power;
  return `${Number(value.toFixed(power === 0 || value >= 100 ? 0 : 1))} ${sizes[power] ?? "B"}`;
}
