import { expect, test } from "vitest";

import type { Activity, ActivityReport } from "../../runtime/core/ports/activity.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenActivity {
  /** The ends of two processes. */
  readonly here: Activity;
  readonly there: Activity;
  close(): Promise<void>;
}

/** What every `Activity` must do. */
export function activityContract(open: () => Promise<OpenActivity>): void {
  test("reports reach all subscribers, in the reporting process too, until they unsubscribe", async () => {
    const { here, there, close } = await open();
    const report: ActivityReport = {
      source: "gateway-1",
      number: 7,
      deltas: [
        { function: "echo.functions", finished: 3, inFlight: 1 },
        { function: "slow.dev", finished: 0, inFlight: 0 },
      ],
      worker: { queue: "default", slots: 2, running: 1 },
      last: true,
    };
    const received: (readonly [string, ActivityReport])[] = [];
    const gone: string[] = [];
    const others: string[] = [];
    const ends = [
      here.subscribe((got) => received.push(["here", got])),
      there.subscribe((got) => received.push(["there", got])),
    ];
    there.subscribe(({ source }) => gone.push(source))();
    ends.push(there.subscribe(({ source }) => others.push(source), report.source));
    await eventually(
      () => {
        here.publish(report);
        return received.some(([at]) => at === "here") && received.some(([at]) => at === "there");
      },
      { every: 50, what: "the reports" },
    );
    for (const [, got] of received) expect(got).toEqual(report);
    expect(gone).toEqual([]);
    await eventually(
      () => {
        here.publish({ ...report, source: "gateway-2" });
        return others.length > 0;
      },
      { every: 50, what: "the report of another source" },
    );
    expect(new Set(others)).toEqual(new Set(["gateway-2"]));
    for (const end of ends) end();
    await close();
  });
}
