import { setTimeout as pause } from "node:timers/promises";

import { Pool } from "undici";

import { header } from "../../../runtime/api/names.ts";
import type { AnswerClass } from "../../../test/support/ledger.ts";
import { classifyAnswer } from "../../../test/support/load.ts";
import type { CallTally } from "./call-tally.ts";

export interface SendingOptions {
  /** Of the gateway, without a path. */
  readonly url: string;
  readonly functionName: string;
  readonly tally: CallTally;
  readonly count: number;
  /** Calls without a response at a time. */
  readonly inFlight: number;
  /** Most calls that are accepted and not over; the senders wait meanwhile. */
  readonly mostOpen: number;
  readonly onAccepted: (call: number) => void;
  /** Ends it: outstanding responses are awaited, and nothing is sent again. */
  readonly signal: AbortSignal;
}

const body = Buffer.alloc(1_024, "x");
const responseTimeout = 5_000;
const pauseBeforeAgain = 100;
const pauseWhenFull = 20;

/** Sends the calls 0 to `count` - 1, each under its own id until it is accepted. */
export async function sendUntilAccepted(options: SendingOptions): Promise<void> {
  const { tally, count, mostOpen, signal } = options;
  const pool = new Pool(options.url, { connections: options.inFlight });
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      if (tally.open >= mostOpen) {
        await pause(pauseWhenFull);
        continue;
      }
      const call = next++;
      for (;;) {
        tally.sent(call);
        const answer = await sendOnce(pool, options, tally.idOf(call));
        tally.answered(call, answer);
        if (answer === "accepted") options.onAccepted(call);
        if (answer === "accepted" || signal.aborted) break;
        await pause(pauseBeforeAgain);
      }
    }
  };
  await Promise.all(Array.from({ length: options.inFlight }, send));
  await pool.destroy();
}

async function sendOnce(pool: Pool, { functionName }: SendingOptions, id: string): Promise<AnswerClass> {
  try {
    const answer = await pool.request({
      method: "POST",
      path: `/async-function/${functionName}`,
      headers: { [header.callId]: id },
      body,
      headersTimeout: responseTimeout,
    });
    await answer.body.dump();
    const queued = answer.headers[header.callQueued.toLowerCase()];
    return classifyAnswer(answer.statusCode, Array.isArray(queued) ? queued[0] : queued);
  } catch (err) {
    return err instanceof Error && "code" in err && err.code === "ECONNREFUSED" ? "refused" : "unknown";
  }
}
