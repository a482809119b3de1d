import { parseDuration } from "../../../api/duration.ts";
import { usageError } from "../../cli-error.ts";

const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?<zone>[Zz]|[+-]\d\d:\d\d)?$/;
/** Most lines of a replica that a gateway returns at once (contract §3.4). */
const mostLines = 10_000;

/**
 * Unix milliseconds of how long ago, as in `10m`, or of a time in RFC 3339, which is UTC if it says no zone.
 * @throws CliError when it is neither
 */
export function parseSince(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text);
  if (ago !== undefined) return now - ago;
  const found = dateTime.exec(text);
  const time = found === null ? Number.NaN : Date.parse(found.groups?.["zone"] === undefined ? `${text}Z` : text);
  if (!Number.isNaN(time)) return time;
  throw usageError(
    `Cannot use --since "${text}": it must be a duration, as in 10m, or a time, as in 2026-01-31T12:00:00Z`,
  );
}

/** @throws CliError unless it is a number of lines */
export function parseTail(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const lines = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (lines >= 1 && lines <= mostLines) return lines;
  throw usageError(`Cannot use --tail "${text}": it must be a whole number from 1 to ${mostLines}`);
}
