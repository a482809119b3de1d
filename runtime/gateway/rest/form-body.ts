import type { IncomingMessage } from "node:http";

import { PlatformError } from "../../api/platform-error.ts";
import { readWholeBody } from "./json/body-parser.ts";

/** Media type of a form. */
export const formType = "application/x-www-form-urlencoded";

/** Fields of a form by name, in the order sent, or why a body is none. */
export type FormBody =
  | { readonly kind: "form"; readonly fields: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: "unreadable"; readonly why: string };

const mostBytes = 65_536;
const otherType = "application/octet-stream";
const printable = /^[\x21-\x7e]*$/;

/**
 * Makes any body reach `readFormBody`, which refuses what is no form, so that its route replies to all bodies in its
 * own format: the framework would refuse some by their Content-Type.
 */
export function admitFormBody({ headers }: IncomingMessage): void {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  const isForm = type.trim().toLowerCase() === formType && headers["content-encoding"] === undefined;
  headers["content-type"] = isForm ? formType : otherType;
}

/** The form in a request's body, of at most 64 KiB. The server watches that it arrives fast enough. */
export async function readFormBody(request: IncomingMessage): Promise<FormBody> {
  if (request.headers["content-type"] !== formType) return { kind: "unreadable", why: `expected ${formType}` };
  try {
    return parseForm((await readWholeBody(request, mostBytes)).toString("latin1"));
  } catch (err) {
    if (!(err instanceof PlatformError)) throw err;
    const isTooLong = err.code === "payload_too_large";
    return { kind: "unreadable", why: isTooLong ? `it is over the limit of ${mostBytes} bytes` : "the client left" };
  }
}

function parseForm(text: string): FormBody {
  try {
    // Refuses what URLSearchParams would repair.
    if (!printable.test(text)) throw new URIError("not printable");
    decodeURIComponent(text);
  } catch {
    return { kind: "unreadable", why: `its encoding is not that of ${formType}` };
  }
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) fields.set(name, [...(fields.get(name) ?? []), value]);
  return { kind: "form", fields };
}
