import { expect } from "vitest";

import { eventually } from "./eventually.ts";
import type { FaultBench, FaultBenchOptions } from "./fault-bench.ts";
import { notAccepted } from "./load.ts";
import { notEmpty } from "./not-empty.ts";

/**
 * The smallest store that a doctor accepts: records get 6.7 MB of it. Nothing is killed: no lease or callback may end
 * because the machine is busy.
 */
export const fullRecordsBench = {
  slots: 16,
  maxFileStore: 67_108_864,
  ackWait: 10_000,
  callbackWindow: 60_000,
} as const satisfies FaultBenchOptions;

export interface FullRecords {
  /** Appended to the callback URL, which records keep. */
  readonly query: string;
  /** Records that fit, about, and calls that are sent. */
  readonly at: number;
  readonly count: number;
}

/**
 * FW19: more calls than records fit are sent while nothing runs. Those accepted end, others are refused, and the room is
 * used again once records are gone.
 */
export async function fillRecords(bench: FaultBench, { query, at, count }: FullRecords): Promise<void> {
  const { platform, sink } = bench;
  const callbackUrl = `${sink.url}${query}`;
  platform.worker.pause();
  const whole = { maxInFlight: 200, beyond: "late" } as const;
  const backlog = await bench.load({ rate: 600, count, callbackUrl, body: () => "1", ...whole });
  const accepted = backlog.sent.filter((call) => call.class === "accepted").map(({ id }) => id);
  const refused = notEmpty(
    backlog.sent.filter((call) => call.class !== "accepted"),
    "refused call",
  );
  expect(accepted.length).toBeGreaterThan(0.9 * at);
  expect(notAccepted(refused.filter((call) => call.status !== 429))).toEqual([]);

  platform.worker.resume();
  const under = await bench.load({ rate: 50, count: 150, callbackUrl });
  expect(notAccepted(under.sent.filter(({ status }) => status !== 202 && status !== 429))).toEqual([]);
  // The callbacks go to one receiver, four at once.
  const { violations } = await bench.settle({ within: 300_000 });
  expect(violations).toEqual([]);
  for (const id of accepted) expect(sink.of(id), id).toHaveLength(1);

  // Ended records stay for two minutes at least.
  await platform.broker.forgetRecords();
  const again = await eventually(
    async () => {
      const response = await platform.calls.queue("working", { body: "1" });
      return response.status === 202 ? response.headers.get("x-call-id") : undefined;
    },
    { what: "a call to be accepted again" },
  );
  expect((await platform.calls.ended(again)).state).toBe("done");
}
