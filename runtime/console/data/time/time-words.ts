const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "long" });

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
/** Older ones are shown as a date, days. */
const longestDays = 30;

/** A time in words, seen from `now`: `12 seconds ago`, `in 3 minutes`; far ones as a date. Both in milliseconds since 1970. */
export function timeWords(at: number, now: number, zone?: string): string {
  const seconds = Math.round((at - now) / 1_000);
  if (seconds === 0) return "now";
  if (Math.abs(seconds) > longestDays * 86_400) return formatOf(dates, zone, { dateStyle: "medium" }).format(at);
  for (const [unit, length] of units)
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  return "now";
}

/** The exact time, to the millisecond, with its zone: `2026-01-31 12:00:00.020 GMT+1`. */
export function exactTime(at: number, zone?: string): string {
  const parts = formatOf(moments, zone, {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    hourCycle: "h23",
    timeZoneName: "short",
  }).formatToParts(at);
  const of = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? "";
  const date = `${of("year")}-${of("month")}-${of("day")}`;
  return `${date} ${of("hour")}:${of("minute")}:${of("second")}.${of("fractionalSecond")} ${of("timeZoneName")}`;
}

/** The time of the day: `12:04:31`. */
export function clockTime(at: number, zone?: string): string {
  return formatOf(clocks, zone, { timeStyle: "medium", hourCycle: "h23" }).format(at);
}

/** Formats by zone: to make one takes a hundred times as long as to use it. */
type Formats = Map<string | undefined, Intl.DateTimeFormat>;

const [dates, moments, clocks]: readonly [Formats, Formats, Formats] = [new Map(), new Map(), new Map()];

function formatOf(
  formats: Formats,
  zone: string | undefined,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const made =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en", { ...options, ...(zone === undefined ? {} : { timeZone: zone }) });
  formats.set(zone, made);
  return made;
}
