import { setTimeout as pause } from "node:timers/promises";

import { parseCallId } from "../../api/grammar.ts";
import { header } from "../../api/names.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { GatewayReply } from "../client/gateway-reply.ts";
import { exitCode } from "../exit-code.ts";
import { readStartOf } from "../client/read-limited.ts";
import { refusal } from "../client/refusal.ts";
import { sendCall, type PreparedCall } from "./send-call.ts";

/** What is done after a reply to a call that was to be queued. */
type QueueStep =
  | { readonly step: "done"; readonly id: string }
  | { readonly step: "refused" }
  /** Nobody knows whether it is queued; under the same id it runs once. */
  | { readonly step: "again"; readonly id: string; readonly pause: number };

/** What a wait for the queue depends on. */
interface QueuePatience {
  /** Milliseconds until a call of which nobody knows whether it is queued is given up. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Is told before the call is sent again, once however often it is. */
  readonly onUnknown: () => void;
  readonly now?: () => number;
}

/** Milliseconds to wait when the gateway does not say. */
const usualPause = 1_000;

/**
 * Judges a reply to a call that was sent under `id`; `unsure`: of an earlier one under this id nobody knows whether it
 * is queued (contract §4.2).
 */
export function judgeQueued({ status, headers }: GatewayReply, id: string, unsure: boolean): QueueStep {
  const usedId = parseCallId(String(headers[header.callId.toLowerCase()] ?? "")) ?? id;
  if (status === 202) return { step: "done", id: usedId };
  const isUnknown = headers[header.callQueued.toLowerCase()] === "unknown";
  // What says no more than that it does not work now says nothing of the earlier one.
  if (!isUnknown && !(unsure && (status === 429 || status >= 500))) return { step: "refused" };
  const seconds = Number(headers["retry-after"]);
  return { step: "again", id: usedId, pause: seconds > 0 ? seconds * 1_000 : usualPause };
}

/**
 * Queues a call under `id`, and resolves to the id to use, which is another one if a different call has that one.
 * @throws CliError with the gateway's sentence, or with exit code 6 when nobody knows in time whether it is queued
 */
export async function queueCall(
  gateway: GatewayClient,
  call: PreparedCall,
  id: string,
  { timeout, signal, onUnknown, now = () => performance.now() }: QueuePatience,
): Promise<string> {
  const until = now() + timeout;
  let used = id;
  for (let unsure = false; ; unsure = true) {
    const next = await attempt(gateway, call, used, unsure);
    if (next.step === "done") return next.id;
    if (now() + next.pause >= until)
      throw new CliError(exitCode.timeout, `${next.because.message}; it may still run`, {
        cause: next.because,
        hint: `weir calls show ${next.id}`,
      });
    used = next.id;
    if (!unsure) onUnknown();
    await pause(next.pause, undefined, { signal });
  }
}

type Attempt = Extract<QueueStep, { step: "done" }> | (Extract<QueueStep, { step: "again" }> & { because: CliError });

/** @throws CliError when the call is known not to be queued */
async function attempt(gateway: GatewayClient, call: PreparedCall, id: string, unsure: boolean): Promise<Attempt> {
  const headers = { ...call.headers, [header.callId.toLowerCase()]: id };
  let reply: GatewayReply;
  try {
    reply = await sendCall(gateway, { ...call, headers });
  } catch (err) {
    if (!unsure || !(err instanceof CliError) || !mayPass(err)) throw err;
    return { step: "again", id, pause: usualPause, because: err };
  }
  const next = judgeQueued(reply, id, unsure);
  if (next.step === "done") {
    // It is empty, but only one that was read leaves its connection to the next request.
    await readStartOf(reply.body, 1);
    return next;
  }
  const because = await refusal(gateway.address, call.method, call.path, reply);
  if (next.step === "refused") throw because;
  return { ...next, because };
}

function mayPass({ exit }: CliError): boolean {
  return exit === exitCode.unavailable || exit === exitCode.timeout;
}
