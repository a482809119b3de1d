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
import type { PublishOutcome } from "./publish-outcome.ts";

/** NATS error code of a message that exceeds the broker's size limit. */
export const payloadTooLarge = 10054;

/** Whether a NATS error code says that the key was written meanwhile or, in a cluster, is being written. */
export function isRevisionConflict(code: number): boolean {
  return code === 10071 || code === 10164;
}

/** Refusals during a leader election, with nothing stored: not available, not the leader. */
const transientRefusals = new Set([10_008, 10_009]);
const downTolerance = 1_000;
/** Milliseconds before a request is repeated that no server could take. */
const pauseBetween = 100;
/**
 * Attempts without a responder before a single server is given up: the stream is missing, or the server is just
 * starting. In a cluster a leader election may be the reason, so there is no such limit.
 */
const maxNoResponders = 5;

/**
 * Publishes into a stream and waits for the broker's acknowledgement, in attempts of 500 ms until `until` (monotonic
 * milliseconds). The headers must make repeats harmless: `Nats-Msg-Id` or an expected sequence.
 */
export async function publishDurably(
  link: NatsLink,
  subject: string,
  body: Uint8Array,
  headers: MsgHdrs | HeaderBlock,
  until: number,
): Promise<PublishOutcome> {
  const outcome = await publishUnreported(link, subject, body, headers, until);
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
): Promise<PublishOutcome> {
  let doubt: unknown;
  // No error is created up front: its stack trace would cost a seventh of accepting a call.
  let failure: unknown;
  let noResponders = 0;
  for (;;) {
    const left = until - performance.now();
    if (left <= 0 || link.downFor() > downTolerance) break;
    try {
      const reply = await link.request(subject, body, {
        headers,
        timeout: Math.min(requestTimeout, Math.max(left, 1)),
      });
      const outcome = acknowledged(reply.data, doubt);
      if (outcome.kind !== "refused" || !link.isCluster || !transientRefusals.has(outcome.refusal.code)) return outcome;
      failure = new Error(`${outcome.refusal.description} (${outcome.refusal.code})`);
      await pause(pauseUntil(until));
    } catch (err) {
      // The client checks the length itself; nothing was sent.
      if (err instanceof InvalidArgumentError) {
        return { kind: "refused", refusal: { code: payloadTooLarge, description: err.message }, doubt };
      }
      failure = err;
      if (isNoResponders(err)) {
        noResponders += 1;
        if (noResponders >= maxNoResponders && !link.isCluster) break;
        await pause(pauseUntil(until));
      } else {
        doubt = err;
        if (!isTimeout(err)) break;
      }
    }
  }
  return doubt === undefined
    ? { kind: "not-sent", cause: failure ?? new Error("the broker is away") }
    : { kind: "unknown", cause: doubt };
}

function pauseUntil(until: number): number {
  return Math.min(pauseBetween, Math.max(0, until - performance.now()));
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
