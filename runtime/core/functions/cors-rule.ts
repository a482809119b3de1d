import { annotation, keyPrefixes } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { annotationKey } from "../../api/schemas/key-rules.ts";
import type { KeyReader } from "../labels/key-reader.ts";

/** Which pages of other origins a browser lets call a function and read its replies (contract §2.1). */
export interface CorsRule {
  /** In lower case. */
  readonly origins: "*" | readonly string[];
  /** As browsers are told them. */
  readonly methods: string;
  /** Headers that a page may send, as browsers are told them; undefined: any. */
  readonly headers: string | undefined;
  /** Whether a page may send cookies and the like. */
  readonly credentials: boolean;
  /** How long a browser may remember the rule. */
  readonly maxAgeSeconds: number;
}

const usualMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const usualMaxAge = 600_000;

/**
 * The rule that the annotations set; undefined: none.
 * @throws PlatformError `validation_failed` for values that cannot be used, or not together
 */
export function corsRule(read: KeyReader): CorsRule | undefined {
  const origins = read(annotationKey.corsOrigins);
  const methods = read(annotationKey.corsMethods);
  const headers = read(annotationKey.corsHeaders);
  const credentials = read(annotationKey.corsCredentials);
  const maxAge = read(annotationKey.corsMaxAge);
  const key = `${keyPrefixes[0]}${annotation.corsOrigins}`;
  if (origins === undefined) {
    if ([methods, headers, credentials, maxAge].every((each) => each === undefined)) return undefined;
    throw new PlatformError(
      "validation_failed",
      `Cannot let pages call the function: ${key} is missing; name them there`,
    );
  }
  const isAny = origins.includes("*");
  if (isAny && credentials === true) {
    const why = `browsers send credentials to named origins only, and ${key} is "*"; name the origins`;
    throw new PlatformError("validation_failed", `Cannot let pages call the function with credentials: ${why}`);
  }
  return {
    origins: isAny ? "*" : origins,
    methods: (methods ?? usualMethods).join(", "),
    headers: headers === undefined || headers.includes("*") ? undefined : headers.join(", "),
    credentials: credentials ?? false,
    maxAgeSeconds: Math.floor((maxAge ?? usualMaxAge) / 1_000),
  };
}
