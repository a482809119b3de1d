import { setTimeout as pause } from "node:timers/promises";

import { Empty, NoRespondersError } from "@nats-io/transport-node";

import { PlatformError } from "../../../api/platform-error.ts";
import { isNoResponders, isTimeout } from "./durable-publish.ts";
import { HeaderBlock } from "./header-block.ts";
import { requestTimeout, type NatsLink } from "./nats-link.ts";

/** A message of a stream. */
export interface LastMessage {
  readonly subject: string;
  readonly sequence: number;
  /** When it was stored, Unix milliseconds of the broker's clock. */
  readonly time: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Error codes of NATS: there is no such message; the stream has no leader now. */
const noMessageFound = 10_037;
const noLeader = 10_008;
const pauseBetween = 100;
const maxAttempts = 4;
/** Milliseconds in which a cluster has elected a leader. */
const electionBudget = 12_000;

/**
 * The last message on `subject`, or undefined when there is none. It is read from the stream's leader, so that every
 * earlier write is seen, in up to four attempts of 500 ms, none begun after `until` (monotonic milliseconds). In a
 * cluster there are more, for as long as the election of a leader takes.
 * @throws PlatformError `queue_unavailable` when no reply came
 */
export function readLast(
  link: NatsLink,
  stream: string,
  subject: string,
  until = Number.POSITIVE_INFINITY,
): Promise<LastMessage | undefined> {
  return readMessage(link, stream, { last_by_subj: subject }, until);
}

/**
 * The first message at or after `sequence` whose subject matches `filter`, or undefined; attempts as in `readLast`.
 * @throws PlatformError `queue_unavailable` when no reply came
 */
export function readNext(
  link: NatsLink,
  stream: string,
  filter: string,
  sequence: number,
): Promise<LastMessage | undefined> {
  return readMessage(link, stream, { seq: sequence, next_by_subj: filter }, Number.POSITIVE_INFINITY);
}

/** As `readNext`, for every subject of the stream. */
export function readFrom(link: NatsLink, stream: string, sequence: number): Promise<LastMessage | undefined> {
  return readNext(link, stream, ">", sequence);
}

async function readMessage(
  link: NatsLink,
  stream: string,
  query: { readonly last_by_subj: string } | { readonly seq: number; readonly next_by_subj: string },
  until: number,
): Promise<LastMessage | undefined> {
  const request = JSON.stringify(query);
  let failure: unknown;
  const last = Math.min(until, performance.now() + electionBudget);
  for (
    let attempt = 0;
    (attempt < maxAttempts || link.isCluster) && !link.isAway && performance.now() < last;
    attempt++
  ) {
    try {
      const reply = await link.request(`$JS.API.STREAM.MSG.GET.${stream}`, request, { timeout: requestTimeout });
      return parseReply(reply.json());
    } catch (err) {
      // The broker replied: with an error.
      if (err instanceof PlatformError) throw err;
      failure = err;
      if (!isTimeout(err) && !isNoResponders(err)) break;
      if (isNoResponders(err)) await pause(pauseBetween);
    }
  }
  throw new PlatformError("queue_unavailable", `Cannot read from stream "${stream}": the broker does not answer`, {
    cause: failure,
    retryAfterSeconds: 1,
  });
}

function parseReply(reply: unknown): LastMessage | undefined {
  const { error, message } = reply as Reply;
  if (error !== undefined) {
    if (error.err_code === noMessageFound) return undefined;
    if (error.err_code === noLeader) throw new NoRespondersError("a stream without a leader");
    throw new PlatformError("queue_unavailable", `Cannot read from the broker: ${error.description ?? "it refuses"}`);
  }
  if (message === undefined) throw new TypeError("the broker's reply holds no message");
  return {
    subject: message.subject,
    sequence: message.seq,
    time: Date.parse(message.time),
    headers: parseHeaderBlock(message.hdrs),
    body: message.data === undefined ? Empty : Buffer.from(message.data, "base64"),
  };
}

/** Reply of `STREAM.MSG.GET` (NATS JetStream API). */
interface Reply {
  readonly error?: { readonly err_code?: number; readonly description?: string };
  readonly message?: {
    readonly subject: string;
    readonly seq: number;
    readonly time: string;
    readonly hdrs?: string;
    readonly data?: string;
  };
}

function parseHeaderBlock(base64: string | undefined): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  if (base64 === undefined) return map;
  const lines = Buffer.from(base64, "base64").toString("utf8").split("\r\n");
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) map.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return map;
}

/** Headers of a write to a bucket: time to live in milliseconds and, if given, the sequence the key must still have. */
export function bucketWriteHeaders(ttl: number, expectedSequence: number | undefined): HeaderBlock {
  const out = new HeaderBlock();
  out.add("Nats-TTL", `${Math.max(1, Math.ceil(ttl / 1_000))}s`);
  if (expectedSequence !== undefined) out.add("Nats-Expected-Last-Subject-Sequence", String(expectedSequence));
  return out;
}
