import type { CallPageView } from "../../../api/schemas/history/call-page.ts";
import type { GatewayClient, GatewayRequest } from "../../client/gateway-client.ts";
import { readOne } from "../../client/read-reply.ts";
import { callPageReply } from "../../client/reply-kinds.ts";

/** The newest calls that a query finds: on all pages together, with the total as the first page says it. */
export type FoundCalls = Omit<CallPageView, "next">;

/** Calls of a page; the most that a gateway gives. */
const pageLimit = 500;

/** Calls by `query`, the newest first, at most `limit`; page by page. */
export async function readCalls(
  gateway: GatewayClient,
  query: NonNullable<GatewayRequest["query"]>,
  limit: number,
): Promise<FoundCalls> {
  const items: CallPageView["items"][number][] = [];
  const gaps = new Map<string, CallPageView["history"]["gaps"][number]>();
  let first: CallPageView | undefined;
  let complete = true;
  for (let after: string | undefined; ;) {
    const page: CallPageView = await readOne(gateway, "/system/calls", callPageReply, {
      query: { ...query, limit: Math.min(pageLimit, limit - items.length), after },
    });
    first ??= page;
    for (const item of page.items) items.push(item);
    for (const gap of page.history.gaps) gaps.set(`${gap.from} ${gap.to}`, gap);
    complete &&= page.history.complete;
    after = page.next;
    if (after !== undefined && items.length < limit) continue;
    return { items, total: first.total, history: { ...first.history, complete, gaps: [...gaps.values()] } };
  }
}
