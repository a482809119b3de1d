import { expect, test } from "vitest";

import { judgeScaling } from "../../bench/scaling/judge-scaling.ts";
import { spike } from "../../bench/scaling/load-shape.ts";
import { pace, runScenario, scalingFlags } from "../../bench/scaling/run-scenario.ts";
import { loadedFunction } from "../../bench/scaling/scenario.ts";
import { say } from "../support/say.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { startWeir } from "../support/weir-process.ts";

test("replicas follow all four scaling types at once, without flapping and without a failed call", async () => {
  const seconds = 18;
  const shape = spike({ low: 3, high: 20, from: 3, to: 10 });
  const types = ["rps", "capacity", "cpu", "queue"] as const;
  const functions = types.map((type) => loadedFunction(type, shape));
  await using data = await tempDirectory("scaling-load");
  await using weir = await startWeir({ data: data.path, flags: scalingFlags });

  const runs = await runScenario(weir, { name: "spike", seconds, functions });
  const verdicts = runs.map((run) => judgeScaling(run, pace));
  for (const { name, ...seen } of verdicts) say(`scaling by ${name}: ${JSON.stringify(seen)}`);
  expect(verdicts.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`))).toEqual([]);
  for (const { peak } of verdicts) expect(peak).toBeGreaterThan(1);
  await weir.stop();
});
