import { expect, test } from "vitest";

import type { Activity, ActivityDelta } from "../../runtime/core/ports/activity.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenActivity {
  /** Two processes' ends. */
  readonly here: Activity;
  readonly there: Activity;
  close(): Promise<void>;
}

/** What every `Activity` must do. */
export function activityContract(open: () => Promise<OpenActivity>): void {
  test("reports reach all who subscribed, the own process too, until they end it", async () => {
    const { here, there, close } = await open();
    const deltas: ActivityDelta[] = [
      { function: "echo.functions", finished: 3, inFlight: 1 },
      { function: "slow.dev", finished: 0, inFlight: 0 },
    ];
    const heard: (readonly [string, string, readonly ActivityDelta[]])[] = [];
    const gone: string[] = [];
    const ends = [
      here.subscribe((source, got) => heard.push(["here", source, got])),
      there.subscribe((source, got) => heard.push(["there", source, got])),
    ];
    there.subscribe((source) => gone.push(source))();
    await eventually(
      () => {
        here.publish("gateway-1", deltas);
        return heard.some(([at]) => at === "here") && heard.some(([at]) => at === "there");
      },
      { within: 5_000, every: 50, what: "the reports" },
    );
    for (const [, source, got] of heard) {
      expect(source).toBe("gateway-1");
      expect(got).toEqual(deltas);
    }
    expect(gone).toEqual([]);
    for (const end of ends) end();
    await close();
  });
}
