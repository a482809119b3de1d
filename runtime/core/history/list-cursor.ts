import { createHash } from "node:crypto";

import { parseCallId } from "../../api/grammar.ts";
import type { CallFilterName } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { CallPlace } from "../ports/call-history.ts";
import { quote } from "../quote.ts";

/** The parameters of a list of calls as they were sent. */
export interface CallListParameters extends Readonly<Partial<Record<CallFilterName, string>>> {
  readonly limit?: string | number;
  readonly after?: string;
}

/** The place where a page of a list ends, as opaque text that is good for the same filter only. */
export function listCursor(parameters: CallListParameters, { accepted, id }: CallPlace): string {
  const text = [accepted.toString(36), id.replaceAll("-", ""), filterDigest(parameters)].join(".");
  return Buffer.from(text).toString("base64url");
}

/**
 * The place that `after` names; undefined if it is absent.
 * @throws PlatformError `validation_failed` if it is not of this list
 */
export function parseListCursor(parameters: CallListParameters): CallPlace | undefined {
  const { after } = parameters;
  if (after === undefined || after === "") return undefined;
  const match = cursor.exec(Buffer.from(after, "base64url").toString("latin1"));
  const [, accepted = "", id = "", digest] = match ?? [];
  const place = { accepted: Number.parseInt(accepted, 36), id: parseCallId(id.replace(digits, "$1-$2-$3-$4-$5")) };
  if (place.id === undefined || !Number.isSafeInteger(place.accepted)) throw unreadable(after, "a page before");
  if (digest !== filterDigest(parameters)) throw unreadable(after, "a page with the same filter");
  return { accepted: place.accepted, id: place.id };
}

const cursor = /^([0-9a-z]{1,11})\.([0-9a-f]{32})\.([\w-]{11})$/;
const digits = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

function unreadable(after: string, of: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read after ${quote(after)}: expected \`next\` of ${of}`);
}

/** Tells filters apart: all parameters but those that say which page, and how long it is. */
function filterDigest(parameters: CallListParameters): string {
  const { limit: _limit, after: _after, ...filter } = parameters;
  const sent = Object.entries(filter)
    .filter(([, value]) => value !== "")
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sent)).digest("base64url").slice(0, 11);
}
