import { afterAll, beforeAll, expect, test } from "vitest";

import { openCliHome, type CliHome } from "../../support/cli-home.ts";
import { mostResidentBytes } from "../../support/process-facts.ts";
import { startCommand } from "../../support/running-command.ts";
import { openScriptedGateway, replyWith } from "../../support/scripted-gateway.ts";

/** `weir list` of 10 000 functions: all of them, in little memory (`docs/cli.md`); its time is a figure of the bench. */
const count = 10_000;
const megabyte = 1_000_000;
const at = "2026-01-31T12:00:00.000Z";

const condition = (type: string, isTrue: boolean, message: string) => ({
  type,
  status: isTrue ? "True" : "False",
  reason: `${type}Reason`,
  message,
  lastTransitionTime: at,
});
/** As large as one of template node. */
const functions = Array.from({ length: count }, (_, index) => ({
  name: `many-${index}`,
  namespace: "functions",
  envVars: { mode: "http" },
  image: "local/hello:cd207aab8536",
  envProcess: "env HOST=127.0.0.1 node server.js",
  labels: { faas_function: "hello" },
  annotations: {
    "com.service.ready.http.path": "/_/ready",
    "com.service.health.http.path": "/_/health",
    "com.service.local.folder": "/home/someone/projects/hello",
  },
  replicas: 1,
  availableReplicas: 1,
  invocationCount: index,
  createdAt: at,
  generation: 1,
  queue: "default",
  conditions: [
    condition("Ready", true, "1 of 1 replicas is ready"),
    condition("Healthy", true, "No replica has failed"),
    condition("Reconciling", false, "All desired replicas are ready, and no others exist"),
    condition("Stalled", false, "Nothing is in the way"),
    condition("Scaling", true, "As deployed: scale.min is 1"),
  ],
}));

let person: CliHome;
beforeAll(async () => {
  person = await openCliHome();
});
afterAll(() => person?.[Symbol.asyncDispose]());

test.runIf(process.platform === "linux").each([
  ["table", 150],
  ["name", 150],
])("-o %s takes at most %i MB", async (format, most) => {
  await using gateway = await openScriptedGateway((response) => replyWith(response, 200, functions));
  await using command = startCommand(person, ["list", "-o", format, "--gateway", gateway.url]);
  let shown = "";
  let peak = 0;
  command.stdout.setEncoding("utf8");
  for await (const text of command.stdout as AsyncIterable<string>) {
    shown += text;
    // It waits until the rest is read; with the last of it, it may be gone.
    if (shown.length < 100_000) peak = mostResidentBytes(command.pid);
  }
  expect(await command.end).toBe(0);
  expect(shown.match(/^many-\d+/gm)).toHaveLength(count);
  expect(peak).toBeGreaterThan(20 * megabyte);
  expect(peak).toBeLessThanOrEqual(most * megabyte);
});
