import { setTimeout as pause } from "node:timers/promises";

import {
  InvalidArgumentError,
  NoRespondersError,
  RequestError,
  TimeoutError,
  type MsgHdrs,
} from "@nats-io/transport-node";

import type { HeaderBlock } from "./header-block.ts";
import { requestTimeout, type NatsLink } from "./nats-link.ts";
import type { PublishOutcome, PublishRefusal } from "./publish-outcome.ts";
import { NotSentError } from "./request-mux.ts";

/** NATS error code of a message that exceeds the broker's size limit. */
export const payloadTooLarge = 10054;

/** Whether a NATS error code says that the key was written meanwhile or, in a cluster, is being written. */
export function isRevisionConflict(code: number): boolean {
  return code === 10071 || code === 10164;
}

/**
 * Refusals of a cluster while leaders are elected, or a server ends, with nothing stored: not available, not the leader,
 * without JetStream (of an account, of the server). What its consensus refuses has no code, and a text that begins so.
 */
const transientRefusals = new Set([10_008, 10_009, 10_039, 10_076]);
const refusedByConsensus = "raft: ";
/** Milliseconds before a request is repeated that no server could take: at first, and at most. */
const pauseBetween = { first: 100, longest: 500 };
/**
 * Attempts without a responder before a single server is given up: the stream is missing, or the server is just
 * starting. In a cluster a leader election may be the reason, so there is no such limit.
 */
const maxNoResponders = 5;

/**
 * Publishes into a stream and waits for the broker's acknowledgement, in attempts of 500 ms until `until` (monotonic
 * milliseconds), or `isAbandoned`. The headers must make repeats harmless: `Nats-Msg-Id` or an expected sequence.
 */
export async function publishDurably(
  link: NatsLink,
  subject: string,
  body: Uint8Array,
  headers: MsgHdrs | HeaderBlock,
  until: number,
  isAbandoned?: () => boolean,
): Promise<PublishOutcome> {
  const outcome = await publishUnreported(link, subject, body, headers, until, isAbandoned);
  link.state.onPublished(outcome);
  return outcome;
}

/** As `publishDurably`, for a stream without which calls go on: the outcome says nothing about the broker's state. */
export async function publishUnreported(
  link: NatsLink,
  subject: string,
  body: Uint8Array,
  headers: MsgHdrs | HeaderBlock,
  until: number,
  isAbandoned: () => boolean = never,
): Promise<PublishOutcome> {
  let doubt: unknown;
  // No error is created up front: its stack trace would cost a seventh of accepting a call.
  let failure: unknown;
  let noResponders = 0;
  for (let round = 0; ; round += 1) {
    const left = until - performance.now();
    if (left <= 0 || link.isAway || link.state.storesNothing || isAbandoned()) break;
    try {
      const reply = await link.request(subject, body, {
        headers,
        timeout: Math.min(requestTimeout, Math.max(left, 1)),
      });
      const outcome = acknowledged(reply.data, doubt);
      if (outcome.kind !== "refused" || !link.isCluster || !isTransient(outcome.refusal)) return outcome;
      failure = new Error(`${outcome.refusal.description} (${outcome.refusal.code})`);
      await pause(pauseUntil(until, round));
    } catch (err) {
      // The client checks the length itself; nothing was sent.
      if (err instanceof InvalidArgumentError) {
        return { kind: "refused", refusal: { code: payloadTooLarge, description: err.message }, doubt };
      }
      failure = err;
      link.state.onUnanswered();
      if (isNoResponders(err)) {
        noResponders += 1;
        if (noResponders >= maxNoResponders && !link.isCluster) break;
        await pause(pauseUntil(until, link.isCluster ? round : 0));
      } else if (!(err instanceof NotSentError)) {
        doubt = err;
        if (!isTimeout(err)) break;
      }
    }
  }
  return doubt === undefined
    ? { kind: "not-sent", cause: failure ?? new Error("the broker is away") }
    : { kind: "unknown", cause: doubt };
}

function never(): boolean {
  return false;
}

function isTransient({ code, description }: PublishRefusal): boolean {
  return transientRefusals.has(code) || (code === 0 && description.startsWith(refusedByConsensus));
}

function pauseUntil(until: number, round: number): number {
  const next = Math.min(pauseBetween.first * 2 ** round, pauseBetween.longest);
  return Math.min(next, Math.max(0, until - performance.now()));
}

/** Whether the subject has no responder: stream or consumer missing, or JetStream not started yet. */
export function isNoResponders(err: unknown): boolean {
  return err instanceof NoRespondersError || (err instanceof RequestError && err.isNoResponders());
}

/** Whether no reply came in time. */
export function isTimeout(err: unknown): boolean {
  return err instanceof TimeoutError || (err instanceof Error && err.cause instanceof TimeoutError);
}

function acknowledged(data: Uint8Array, doubt: unknown): PublishOutcome {
  const ack: unknown = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8"));
  if (typeof ack !== "object" || ack === null) throw new TypeError("the broker's acknowledgement is not an object");
  if ("error" in ack) {
    const error = ack.error;
    const code = typeof error === "object" && error !== null && "err_code" in error ? Number(error.err_code) : 0;
    const description =
      typeof error === "object" && error !== null && "description" in error ? String(error.description) : "";
    return { kind: "refused", refusal: { code, description }, doubt };
  }
  return {
    kind: "stored",
    sequence: "seq" in ack ? Number(ack.seq) : 0,
    duplicate: "duplicate" in ack && ack.duplicate === true,
  };
}
