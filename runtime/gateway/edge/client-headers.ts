import { isHeaderValue, isToken } from "../../api/http-grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { HeaderList } from "../../core/headers/header-list.ts";
import { withoutSessionCookies } from "../../core/headers/session-cookies.ts";
import { quote } from "../../core/quote.ts";
import { requestHeader, requestHeaderKinds, type RequestHeaderKind } from "./request-header-kinds.ts";

/** Kinds that reach a function as a client sends them. */
const sendable: ReadonlySet<RequestHeaderKind> = new Set([
  requestHeader.pass,
  requestHeader.cookie,
  requestHeader.authorization,
  requestHeader.contentType,
  requestHeader.functionStatus,
]);

/** At most once in a request (`security.md` H3). */
const single: ReadonlySet<RequestHeaderKind> = new Set([requestHeader.authorization, requestHeader.contentType]);

/**
 * Headers that a client sends as data, for a call that is made of them.
 * @throws PlatformError `validation_failed` unless each is one that a client may send to a function
 */
export function clientHeaders(list: HeaderList): readonly string[] {
  if (list.length % 2 !== 0) throw unreadable("expected names and values in turn, got an odd number of texts");
  const headers: string[] = [];
  const seen = new Set<RequestHeaderKind>();
  for (let index = 0; index < list.length; index += 2) {
    const [name = "", value = ""] = list.slice(index, index + 2);
    if (!isToken(name)) throw unreadable(`${quote(name)} is not the name of a header`);
    if (!isHeaderValue(value)) throw unreadable(`the value of ${quote(name)} holds a character that none may have`);
    const kind: RequestHeaderKind = requestHeaderKinds.of(name);
    if (!sendable.has(kind)) throw unreadable(`${quote(name)} is set by the platform, and cannot be sent`);
    if (single.has(kind) && seen.has(kind)) throw unreadable(`${quote(name)} came twice`);
    seen.add(kind);
    // Not by trim(), which removes some bytes above ASCII, too.
    const bare = value.replaceAll(/^[\t ]+|[\t ]+$/g, "");
    const kept = kind === requestHeader.cookie ? withoutSessionCookies(bare) : bare;
    if (kept !== undefined) headers.push(name, kept);
  }
  return headers;
}

function unreadable(why: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read headers: ${why}`);
}
