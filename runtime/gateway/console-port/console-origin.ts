import { loopbackOrigins } from "../access/check-origin.ts";

export interface ConsolePlaceFacts {
  /** As set; empty = loopback only. */
  readonly consoleOrigins: readonly string[];
  readonly consolePort: number;
  /** Whether it speaks TLS itself. */
  readonly isSecure: boolean;
}

/**
 * The origin that the console is opened under by who asks for `host`: the first of the setting; on loopback that of the
 * same name, so that a person stays with the name that was typed.
 */
export function consoleOriginOf(
  { consoleOrigins, consolePort, isSecure }: ConsolePlaceFacts,
  host: string | undefined,
): string {
  const [first] = consoleOrigins;
  if (first !== undefined) return new URL(first).origin;
  const origins = loopbackOrigins(consolePort, isSecure);
  const name = host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname;
  const same = origins.find((origin) => new URL(origin).hostname === name);
  return same ?? origins[0] ?? "";
}
