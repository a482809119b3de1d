const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** How long ago a time in RFC 3339 is, in its largest unit, as in `3d`, `14m`, `0s`; empty when there is none. */
export function ageText(time: string | undefined, now: number = Date.now()): string {
  const milliseconds = time === undefined ? Number.NaN : now - Date.parse(time);
  if (Number.isNaN(milliseconds)) return "";
  const [unit, length] = units.find(([, each]) => milliseconds >= each) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(milliseconds / length))}${unit}`;
}

/** A time in RFC 3339 as local time for a table: `2026-11-25 13:20:01`; empty when there is none. */
export function localTime(time: string | undefined): string {
  const date = new Date(time ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}
