const unitMilliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const amount = "[0-9]{1,9}(?:[.][0-9]{1,3})?";
const units = "ms|s|m|h";
const part = new RegExp(`(${amount})(${units})`, "gy");

/** The syntax that `parseDuration` reads, without its upper bound: the source of a regular expression. */
export const durationPattern = `^(?:[0-9]{1,9}|(?:${amount}(?:${units}))+)$`;

/** Longest duration that is read: 366 days. A timer of Node.js holds less: 2^31 - 1 ms, 24.8 days. */
export const longestDuration = 366 * 24 * 3_600_000;

/**
 * Milliseconds of a duration such as `1m30s`, `500ms` or whole seconds `90`; undefined when it is not one,
 * or longer than `longestDuration` (contract §1.3).
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return within(Number(text) * 1_000);
  let total = 0;
  let end = 0;
  for (const match of text.matchAll(part)) {
    total += Number(match[1]) * (unitMilliseconds[match[2] ?? ""] ?? Number.NaN);
    end = match.index + match[0].length;
  }
  return end === text.length && end > 0 ? within(Math.round(total)) : undefined;
}

/** The shortest text that `parseDuration` reads as `duration` milliseconds. */
export function formatDuration(duration: number): string {
  if (duration === 0) return "0s";
  let rest = duration;
  let text = "";
  for (const unit of ["h", "m", "s", "ms"] as const) {
    const count = Math.floor(rest / (unitMilliseconds[unit] ?? 1));
    rest -= count * (unitMilliseconds[unit] ?? 1);
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

function within(duration: number): number | undefined {
  return duration <= longestDuration ? duration : undefined;
}
