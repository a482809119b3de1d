import type { HeaderList } from "./header-list.ts";

const secretName = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|token|secret|key/i;

/** Placeholder for a value that is not shown. */
export const redacted = "[redacted]";

/** Whether a header of this name may hold credentials (`security.md` §6). */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name);
}

/** The headers for display to people: values that could be credentials are hidden (`security.md` §6). */
export function redactedHeaders(headers: HeaderList): string[] {
  return headers.map((text, index) => (index % 2 === 1 && isSecretHeader(headers[index - 1] ?? "") ? redacted : text));
}
