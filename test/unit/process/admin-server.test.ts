import { Gauge } from "prom-client";
import { onTestFinished, expect, test } from "vitest";

import { openAdminServer } from "../../../runtime/process/admin-server.ts";
import { sendVerbatim } from "../../support/verbatim-request.ts";

test("metrics of a child process stand beside those of this one, and are left out while it does not answer", async () => {
  const admin = await openAdminServer({ host: "127.0.0.1", port: 0, headersTimeout: 10_000 });
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

test("on loopback it answers to names of this machine and to those that are allowed; else to any", async () => {
  const allowedHosts = ["metrics.example.com"];
  const local = await openAdminServer({ host: "127.0.0.1", port: 0, headersTimeout: 10_000, allowedHosts });
  onTestFinished(() => local.close());
  const open = await openAdminServer({ host: "0.0.0.0", port: 0, headersTimeout: 10_000 });
  onTestFinished(() => open.close());
  const ask = (port: number, host: string) => sendVerbatim(port, { target: "/metrics", headers: ["Host", host] });
  const evil = await ask(local.port, `evil.example:${local.port}`);
  expect(evil.status).toBe(421);
  expect(await evil.text()).toMatch(/^Cannot answer for host "evil.example:\d+": .*allowed_hosts\n$/);
  for (const host of ["localhost:8082", "metrics.example.com"]) expect((await ask(local.port, host)).status).toBe(200);
  expect((await ask(open.port, "evil.example")).status).toBe(200);
});
