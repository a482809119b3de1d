import { principalHeader } from "../../api/names.ts";
import { headerValue, type HeaderList } from "../headers/header-list.ts";
import { shortError } from "./call-attempts.ts";
import type { CallPrincipal } from "./call-entry.ts";

/** Most bytes that each of the two takes in the JSON of a record, which has a bounded size. */
const maxBytes = 256;

/**
 * Who sent a queued call, by the headers that tell the function so. Only the gateway writes them: it removes what
 * clients send under these names.
 */
export function callPrincipal(headers: HeaderList): CallPrincipal | undefined {
  const subject = headerValue(headers, principalHeader.subject.toLowerCase());
  if (subject === undefined) return undefined;
  const issuer = headerValue(headers, principalHeader.issuer.toLowerCase());
  return { subject: textIn(subject), ...(issuer === undefined ? {} : { issuer: textIn(issuer) }) };
}

/** The header text without its percent-encoding. */
function textIn(header: string): string {
  try {
    return shortError(decodeURIComponent(header), maxBytes);
  } catch {
    // Not written by a gateway; shown as it is.
    return shortError(header, maxBytes);
  }
}
