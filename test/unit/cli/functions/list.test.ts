import { expect, test } from "vitest";

import type { FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import { openPretendedGateway, problem, type PretendedReply } from "../../../support/pretended-gateway.ts";

const status = (name: string, namespace: string, more: Partial<FunctionStatus> = {}): FunctionStatus => ({
  name,
  namespace,
  image: `${name}:1`,
  labels: {},
  annotations: {},
  replicas: 1,
  availableReplicas: 1,
  invocationCount: 0,
  createdAt: "2026-01-31T12:00:00Z",
  generation: 1,
  queue: "default",
  conditions: [
    { type: "Ready", status: "True", reason: "ReplicasReady", message: "", lastTransitionTime: "2026-01-31T12:00:00Z" },
  ],
  ...more,
});

const byTarget: Readonly<Record<string, PretendedReply>> = {
  "/system/namespaces": { json: ["dev", "functions", "gone"] },
  "/system/functions?namespace=dev": {
    json: [status("a", "dev", { invocationCount: 5, createdAt: "2026-03-01T00:00:00Z" })],
  },
  "/system/functions?namespace=functions": {
    json: [
      status("b", "functions", { replicas: 3, availableReplicas: 3 }),
      status("c", "functions", { invocationCount: 9, createdAt: "2026-02-01T00:00:00Z" }),
    ],
  },
  "/system/functions?namespace=gone": problem(404, "namespace_not_found", 'Cannot find namespace "gone"'),
};

test.each([
  ["name", ["a.dev", "b.functions", "c.functions"]],
  ["calls", ["c.functions", "a.dev", "b.functions"]],
  ["age", ["a.dev", "c.functions", "b.functions"]],
  ["replicas", ["b.functions", "a.dev", "c.functions"]],
] as const)(
  "the functions of all namespaces are sorted by %s; a namespace that was just deleted has none",
  async (key, names) => {
    await using gateway = await openPretendedGateway(({ target }) => byTarget[target] ?? { status: 500 });
    const end = await gateway.run(["list", "-A", "--sort", key, "-o", "name"]);
    expect(end).toEqual({ code: 0, stdout: names.map((name) => `${name}\n`).join(""), stderr: "" });
  },
);

test("a namespace that was named and is not there is an error", async () => {
  await using gateway = await openPretendedGateway(({ target }) => byTarget[target] ?? { status: 500 });
  const { code, stdout, stderr } = await gateway.run(["list", "-n", "gone"]);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toBe('Cannot find namespace "gone"\nTry: weir namespaces list\n');
});

test("no functions are a table with its titles alone, and [] as JSON", async () => {
  await using gateway = await openPretendedGateway(() => ({ json: [] }));
  expect((await gateway.run(["list"])).stdout).toBe("NAME  READY  CALLS  STATE  AGE  IMAGE\n");
  expect(JSON.parse((await gateway.run(["list", "-o", "json"])).stdout)).toEqual([]);
});
