import type { PagePlace } from "../address/page-address.ts";
import { pageLink } from "../address/page-links.ts";

/** Longest path that the gateway leads back to. */
const longest = 1_024;
/** Addresses of pages look like this; the gateway refuses some others. */
const pagePath = /^\/ui\/[\w\-.~/]*$/;

/** Where one signs in at an issuer, to come back to the page at `path`, narrowed as it is; to the first page from elsewhere. */
export function loginLink(issuer: string, { path, query }: Pick<PagePlace, "path" | "query">): string {
  const narrowed = query.toString();
  const place = narrowed === "" ? path : `${path}?${narrowed}`;
  const fits = place.length <= longest && pagePath.test(path) && !path.includes("//");
  return `/auth/login?${new URLSearchParams({ issuer, to: fits ? place : pageLink.overview }).toString()}`;
}
