/**
 * Methods that a request may have (`security.md` H12): those of the IANA registry that Node.js parses, without TRACE and
 * CONNECT.
 */
export const httpMethods: readonly string[] = (
  "ACL BIND CHECKOUT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE OPTIONS PATCH POST " +
  "PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH UNBIND UNLINK UNLOCK"
).split(" ");

/** Known methods that are refused: TRACE and CONNECT, those of protocols related to HTTP, and unregistered ones. */
const others =
  "TRACE CONNECT PURGE NOTIFY SUBSCRIBE UNSUBSCRIBE M-SEARCH SOURCE PRI ANNOUNCE DESCRIBE FLUSH GET_PARAMETER PAUSE PLAY " +
  "RECORD REDIRECT SETUP SET_PARAMETER TEARDOWN";

const allowed: ReadonlySet<string> = new Set(httpMethods);
const refused: ReadonlySet<string> = new Set(others.split(" "));

/** Whether a method is allowed, known but refused, or unknown; methods are case-sensitive. */
export function judgeMethod(text: string): "allowed" | "refused" | "unknown" {
  if (allowed.has(text)) return "allowed";
  return refused.has(text) ? "refused" : "unknown";
}
