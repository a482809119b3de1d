import type { Msg } from "@nats-io/transport-node";

import type { NatsLink } from "./nats-link.ts";

/** A message of a stream. */
export interface PageMessage {
  readonly sequence: number;
  /** When it was stored by the broker's clock, with nanoseconds; later times are greater texts. */
  readonly storedAt: string;
  readonly body: Uint8Array;
}

/** Consecutive messages of a stream. */
export interface StreamPage {
  readonly messages: readonly PageMessage[];
  /** Whether others follow the last of them. */
  readonly more: boolean;
}

/** The first message of a page: the first one at or after a sequence, or stored at or after a time. */
export type PageStart = { readonly seq: number } | { readonly start_time: string };

/** Bounds of a page, messages and bytes. */
const pageBounds = { batch: 256, max_bytes: 1_048_576 };
/** Milliseconds for a whole page. */
const pageTimeout = 3_000;
const endOfBatch = 204;
const noneFound = 404;

/**
 * A page of a stream that allows direct reads (NATS ADR-31). It comes from any server that has the stream, so what was
 * stored a moment ago may be missing at its end; nothing is missing within it.
 * @throws Error when the broker does not send the whole page
 */
export async function readPage(link: NatsLink, stream: string, start: PageStart): Promise<StreamPage> {
  if (link.isAway) throw new Error("the broker is away");
  const replies = await link.nc.requestMany(
    `$JS.API.DIRECT.GET.${stream}`,
    JSON.stringify({ ...start, ...pageBounds }),
    // The end of the page is a message without a body.
    { strategy: "sentinel", maxWait: pageTimeout },
  );
  const messages: PageMessage[] = [];
  for await (const reply of replies) {
    const code = reply.headers?.code ?? 0;
    if (code === noneFound) return { messages: [], more: false };
    if (code === endOfBatch && numberOf(reply, "Nats-Last-Sequence") === messages.at(-1)?.sequence)
      return { messages, more: numberOf(reply, "Nats-Num-Pending") > 0 };
    if (code !== 0) throw new Error(`the broker replied ${code} ${reply.headers?.description ?? ""}`.trim());
    const before = messages.at(-1)?.sequence ?? 0;
    if (numberOf(reply, "Nats-Last-Sequence") !== before) break;
    messages.push({
      sequence: numberOf(reply, "Nats-Sequence"),
      // Its zeros at the end are left out: with the "Z", 47.5 would be greater than 47.51.
      storedAt: reply.headers?.get("Nats-Time-Stamp").slice(0, -1) ?? "",
      body: reply.data,
    });
  }
  throw new Error("the broker did not send all that was asked for");
}

function numberOf(reply: Msg, name: string): number {
  return Number(reply.headers?.get(name));
}
