import { PlatformError } from "../../../api/platform-error.ts";
import { quote } from "../../../core/quote.ts";

/** Where someone lands who says nothing else. */
const defaultTarget = "/ui/";
const longest = 1_024;
/** Unreserved and reserved characters of RFC 3986 without fragment: nothing that anyone would decode or normalise. */
const plain = /^\/ui\/(?:[\w\-.~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*(?:\?(?:[\w\-.~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?$/;
const elsewhere = /\/\/|%2f|%5c|(?:\/|%2e)(?:\.|%2e){1,2}(?:[/?]|$)/i;

/**
 * The path that a sign-in leads back to: one below `/ui/`.
 * @throws PlatformError `validation_failed`
 */
export function loginTarget(to: string | undefined): string {
  if (to === undefined || to === "") return defaultTarget;
  const path = to.split("?", 1)[0] ?? "";
  if (to.length <= longest && plain.test(to) && !elsewhere.test(path)) return to;
  throw new PlatformError(
    "validation_failed",
    `Cannot sign in: to is ${quote(to)}, expected a path below ${defaultTarget}`,
  );
}
