/** A length of time, short: `8.4 ms`, `340 ms`, `1.4 s`, `2 min 5 s`, `3 h 20 min`, `4 d 2 h`. */
export function durationWords(milliseconds: number): string {
  if (milliseconds < 10) return `${trimmed(milliseconds, 1)} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10_000) return `${trimmed(milliseconds / 1_000, 1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return twoUnits(seconds, 60, "min", "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return twoUnits(minutes, 60, "h", "min");
  return twoUnits(Math.round(minutes / 60), 24, "d", "h");
}

function twoUnits(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return `${Math.floor(value / size)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
