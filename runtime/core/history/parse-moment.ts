import { parseDateTime } from "../date-time.ts";
import { parseDuration } from "../../api/duration.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../quote.ts";

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
  const at = parseDateTime(text, "required");
  if (at !== undefined) return at;
  throw new PlatformError(
    "validation_failed",
    `Cannot read ${name} ${quote(text)}: expected a time such as 2026-01-31T12:00:00Z, or a duration back such as 2h30m`,
  );
}

function parseBack(text: string): number | undefined {
  const [, count] = days.exec(text) ?? [];
  return count === undefined ? parseDuration(text) : Number(count) * 86_400_000;
}
