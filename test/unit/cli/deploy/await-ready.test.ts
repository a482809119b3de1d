import { MockAgent } from "undici";
import { expect, test } from "vitest";

import type { FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import { CliError } from "../../../../runtime/cli/cli-error.ts";
import { GatewayClient } from "../../../../runtime/cli/client/gateway-client.ts";
import { awaitReady, type SentDeployment } from "../../../../runtime/cli/deploy/rollout/await-ready.ts";
import { exitCode } from "../../../../runtime/cli/exit-code.ts";
import { conditionOf, functionStatusOf } from "../../../support/function-status-of.ts";

const address = "http://gateway.test";
const deployment = { service: "hello", image: "a" };
const sent: SentDeployment = { deployment, generation: 3, sentAt: undefined };
const ready = functionStatusOf(deployment, { generation: 3 });
const starting = functionStatusOf(deployment, {
  generation: 3,
  conditions: [conditionOf("Reconciling", "True", "Starting")],
});
const replaced = functionStatusOf(deployment, { generation: 4 });
const removed = "removed";

/** Waits at a gateway that shows the function like this, one look after the other; each look takes a second. */
async function waitAt(looks: readonly (FunctionStatus | typeof removed)[], timeout = 60_000) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  let now = 0;
  for (const look of looks) {
    const [status, body] =
      look === removed ? [404, { code: "function_not_found", detail: "Cannot find it: it is gone" }] : [200, look];
    agent
      .get(address)
      .intercept({ method: "GET", path: "/system/function/hello" })
      .reply(status, () => ((now += 1_000), JSON.stringify(body)), {
        headers: { "content-type": status === 404 ? "application/problem+json" : "application/json" },
      });
  }
  const { signal } = new AbortController();
  const gateway = new GatewayClient({
    address,
    credentials: undefined,
    dispatcher: agent,
    timeout: 60_000,
    signal,
    debug: undefined,
  });
  const lines: string[] = [];
  const progress = (line: string): void => void lines.push(line);
  const outcomes = await Array.fromAsync(awaitReady([sent], { gateway, timeout, signal, progress, now: () => now }));
  agent.assertNoPendingInterceptors();
  await agent.close();
  return { lines, outcomes };
}

test("waits until the function is ready, and says each state once", async () => {
  const { lines, outcomes } = await waitAt([starting, starting, ready]);
  expect(outcomes).toEqual([ready]);
  expect(lines).toEqual(["hello: Reconciling is True: Starting", "hello: ready"]);
});

test.each([
  [removed, removed, "it was removed meanwhile"],
  ["deployed again", replaced, "it was deployed again meanwhile"],
] as const)("the wait for a function that is %s meanwhile fails at once", async (_what, last, why) => {
  const { lines, outcomes } = await waitAt([starting, last]);
  expect(lines).toEqual(["hello: Reconciling is True: Starting"]);
  expect(outcomes).toEqual([expect.any(CliError)]);
  expect(outcomes[0]).toMatchObject({
    exit: exitCode.failed,
    message: `Cannot get function "hello" ready: ${why}`,
  });
});

test("the wait ends when its time is over, with the last state", async () => {
  const { outcomes } = await waitAt([starting, starting], 1_000);
  expect(outcomes).toEqual([expect.any(CliError)]);
  expect(outcomes[0]).toMatchObject({
    exit: exitCode.timeout,
    message: 'Cannot get function "hello" ready in 1s: Reconciling is True: Starting',
  });
});

test("lines that a reason quotes are lines, and are shown once", async () => {
  const message =
    'Cannot prepare the function: "npm ci" ended with code 1; its last lines:\nnpm error EUSAGE\nnpm error in sync';
  const failed = functionStatusOf(deployment, {
    generation: 3,
    conditions: [
      conditionOf("Reconciling", "True"),
      conditionOf("Healthy", "False"),
      { ...conditionOf("Stalled", "True", "PrepareFailed"), message },
    ],
  });
  const [outcome] = (await waitAt([failed])).outcomes;
  expect(outcome).toBeInstanceOf(CliError);
  expect((outcome as CliError).message).toMatch(
    /code 1; its last lines:\n {2}npm error EUSAGE\n {2}npm error in sync$/,
  );
});
