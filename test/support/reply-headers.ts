import { addedHeaders, passedHeaders, type ReplyFacts } from "../../runtime/gateway/calls/sync/reply-headers.ts";

/** All headers of a reply in one list. */
export function replyHeaders(status: number, headers: readonly string[], facts: ReplyFacts): string[] {
  const passed = passedHeaders(status, headers);
  return [...passed.list, ...addedHeaders(passed, facts)];
}
