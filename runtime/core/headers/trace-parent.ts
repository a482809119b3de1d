import { headerValue, type HeaderList } from "./header-list.ts";

const wellFormed = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/;
/** Characters of version 00; later versions may be longer. */
const length = 55;

/** Whether the value of a `traceparent` header can be passed on (W3C Trace Context §3.2). */
export function isTraceParent(value: string): boolean {
  return wellFormed.test(value) && (value.length === length || !value.startsWith("00"));
}

/** The trace id in a valid `traceparent`. */
export function traceIdOf(traceParent: string): string {
  return traceParent.slice(3, 35);
}

/** The trace id that the headers of a call carry, or undefined. */
export function traceIdIn(headers: HeaderList): string | undefined {
  const traceParent = headerValue(headers, "traceparent");
  return traceParent !== undefined && isTraceParent(traceParent) ? traceIdOf(traceParent) : undefined;
}
