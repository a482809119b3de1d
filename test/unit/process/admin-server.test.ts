import { Gauge } from "prom-client";
import { onTestFinished, expect, test } from "vitest";

import { openAdminServer } from "../../../runtime/process/admin-server.ts";

test("metrics of a child process stand beside those of this one, and are left out while it does not answer", async () => {
  const admin = await openAdminServer({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => admin.close());
  new Gauge({ name: "own", help: "of this process", registers: [admin.registry] }).set(1);
  let isAway = false;
  admin.addMetrics(async () => {
    if (isAway) throw new Error("away");
    return "# HELP child of another\n# TYPE child gauge\nchild 2\n";
  });
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${admin.port}/metrics`)).text();
  expect(await metrics()).toMatch(/^own 1\n[^]*^child 2\n$/m);
  isAway = true;
  expect(await metrics()).toMatch(/^own 1\n$/m);
  expect(await metrics()).not.toContain("child");
});
