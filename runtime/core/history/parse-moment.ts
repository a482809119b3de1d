import { parseDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../quote.ts";

const dateTime = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const days = /^(\d{1,3})d$/;

/**
 * Unix milliseconds of a parameter that is a time (RFC 3339), or a duration back from `now` such as `2h30m` or `7d`;
 * undefined if it is absent.
 * @throws PlatformError `validation_failed` if it is neither
 */
export function parseMoment(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const back = parseBack(text);
  if (back !== undefined) return now - back;
  const [, date, time, fraction = "", zone = "Z"] = dateTime.exec(text) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const atUtc = Date.parse(`${date}T${time}.${milliseconds}Z`);
  const at = Date.parse(`${date}T${time}.${milliseconds}${zone.toUpperCase()}`);
  // Date.parse moves a date such as 30 February, so the result must be the date that was sent.
  if (Number.isNaN(at) || !new Date(atUtc).toISOString().startsWith(`${date}T${time}`)) {
    throw new PlatformError(
      "validation_failed",
      `Cannot read ${name} ${quote(text)}: expected a time such as 2026-01-31T12:00:00Z, or a duration back such as 2h30m`,
    );
  }
  return at;
}

function parseBack(text: string): number | undefined {
  const [, count] = days.exec(text) ?? [];
  return count === undefined ? parseDuration(text) : Number(count) * 86_400_000;
}
