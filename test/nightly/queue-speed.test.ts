import { afterEach, expect, test } from "vitest";

import { decidedTime } from "../support/decided-time.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import { quantile, type LoadSummary, notAccepted } from "../support/load.ts";
import { preciseNow } from "../support/precise-now.ts";

/** Runs end immediately. */
const body = (): string => "0";
const promised = { p50: 3, p99: 25, fastP99: 100, start: 50 } as const;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("S5 latency of the 202 at 200 and at 1 000 calls a second, while they run", async () => {
  const opened = (bench = await openFaultBench({ slots: 16 }));
  const { pid } = opened.platform.gateway;
  const load = async (rate: number, count: number): Promise<LoadSummary> => {
    const summary = await opened.load({ rate, count, body });
    expect(notAccepted(summary.sent)).toEqual([]);
    return summary;
  };
  await load(200, 400);
  // A round is judged by the worse of its two shares of the promise.
  const share = await decidedTime(pid, 1, async () => {
    const { latencies } = await load(200, 1_000);
    const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    figure("S5", `at 200 a second p50 ${inWords(p50)}, p99 ${inWords(p99)}`);
    return Math.max(p50 / promised.p50, p99 / promised.p99);
  });
  expect(share).toBeGreaterThan(0);
  const fast = await decidedTime(pid, promised.fastP99, async () =>
    quantile((await load(1_000, 3_000)).latencies, 0.99),
  );
  figure("S5", `at 1 000 a second p99 ${inWords(fast)}`);
  expect((await opened.settle({ within: 60_000 })).violations).toEqual([]);
});

test("S7 time from the 202 to the start in an idle system; S13 order of starts with one slot", async () => {
  const opened = (bench = await openFaultBench());
  const starts = new Map<string, number>();
  await opened.open("idle", (request, response) => {
    starts.set(String(request.headers["x-call-id"]), preciseNow());
    response.end();
  });
  const p99 = await decidedTime(opened.platform.gateway.pid, promised.start, async () => {
    const { sent } = await opened.load({ functionName: "idle", rate: 20, count: 100 });
    for (const { id } of sent) await opened.platform.calls.ended(id);
    const waits = sent
      .map(({ id, answeredAt }) => (starts.get(id) ?? Number.NaN) - answeredAt)
      .toSorted((a, b) => a - b);
    return Math.max(0, quantile(waits, 0.99));
  });
  figure("S7", `p99 ${inWords(p99)} from the 202 to the start`);
  await opened.load({ rate: 300, count: 600, body });
  const { counts, violations } = await opened.settle({ within: 60_000, inOrder: true });
  expect(violations).toEqual([]);
  figure("S13", `0 inversions in ${counts.accepted} calls with one slot`);
});
