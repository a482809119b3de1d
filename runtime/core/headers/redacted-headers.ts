import type { HeaderList } from "./header-list.ts";

const secretName = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|token|secret|key/i;

/** What stands for a value that is not shown. */
export const redacted = "[redacted]";

/** The headers with the values hidden that could be credentials (`security.md` §6): for people's eyes. */
export function redactedHeaders(headers: HeaderList): string[] {
  return headers.map((text, index) => (index % 2 === 1 && secretName.test(headers[index - 1] ?? "") ? redacted : text));
}
