import { quote } from "../../core/quote.ts";

/** What a route of the console is for, as far as its senders go. */
export type SenderKind =
  /** Asks nothing of its sender: the issuer's page leads to it, or it is a file without data. */
  | "open"
  /** A link may lead to it, or the address bar. */
  | "navigation"
  /** Where a browser that does not say where its requests come from is told so. */
  | "sign-in"
  | "other";

/** What a request says about the page that sent it. */
export interface SenderFacts {
  readonly kind: SenderKind;
  readonly method: string;
  readonly hasCookie: boolean;
  /** `Sec-Fetch-Site`, which browsers add and pages cannot set. */
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
}

/**
 * Why a request may not have been sent by a page of the console, or undefined (`iam.md` §8). Programs send neither
 * the cookie nor `Sec-Fetch-Site`.
 */
export function judgeSender(facts: SenderFacts, isOwn: (origin: string) => boolean): string | undefined {
  const { kind, method, hasCookie, fetchSite, origin } = facts;
  if (kind === "open") return undefined;
  if (origin !== undefined && !isOwn(origin)) return `a page of origin ${quote(origin)} is none of the console's`;
  if (fetchSite === undefined) {
    if (hasCookie || (kind === "sign-in" && origin !== undefined)) {
      return "this browser does not say which page sends a request (Sec-Fetch-Site), a newer one does";
    }
    return undefined;
  }
  if (fetchSite !== "same-origin" && !(kind === "navigation" && fetchSite === "none")) {
    return `Sec-Fetch-Site is ${quote(fetchSite)}, expected "same-origin"`;
  }
  if (method !== "GET" && method !== "HEAD" && origin === undefined) return "it has no Origin";
  return undefined;
}
