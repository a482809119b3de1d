import { expect, test } from "vitest";

import type { Condition, FunctionStatus } from "../../../../runtime/api/schemas/function-status.ts";
import { conditionsInOrder, functionText } from "../../../../runtime/cli/commands/functions/function-text.ts";

const created = Date.parse("2026-01-31T12:00:00Z");
const condition = (type: Condition["type"], status: Condition["status"], message = "It is so"): Condition => ({
  type,
  status,
  reason: "Because",
  message,
  lastTransitionTime: "2026-01-31T12:00:00Z",
});
const plain: FunctionStatus = {
  name: "hello",
  namespace: "functions",
  image: "hello",
  labels: { faas_function: "hello" },
  annotations: {},
  replicas: 2,
  availableReplicas: 1,
  invocationCount: 7,
  createdAt: "2026-01-31T12:00:00Z",
  generation: 3,
  queue: "default",
  conditions: [condition("Ready", "False"), condition("Stalled", "True", "The image is not there")],
};
const blocks = (status: FunctionStatus): readonly (readonly string[])[] =>
  functionText(status, created + 60_000)
    .trimEnd()
    .split("\n\n")
    .map((block) => block.split("\n"));

test("conditions come first with their reasons, then what was deployed", () => {
  const [conditions, fields] = blocks(plain);
  expect(conditions).toEqual([
    "CONDITION  STATUS  SINCE  REASON   MESSAGE",
    "Stalled    True       1m  Because  The image is not there",
    "Ready      False      1m  Because  It is so",
  ]);
  expect(fields?.map((line) => line.split(/ {2,}/))).toEqual([
    ["name", "hello"],
    ["namespace", "functions"],
    ["replicas", "1 of 2 ready"],
    ["calls", "7"],
    ["queue", "default"],
    ["created", expect.stringMatching(/^2026-0[12]-\d\d \d\d:\d0:00 \(1m ago\)$/)],
    ["generation", "3"],
    ["image", "hello"],
    ["labels", "faas_function=hello"],
  ]);
});

test("every field of a deployment is shown, a line for each entry", () => {
  const [, fields = []] = blocks({
    ...plain,
    envProcess: "cat",
    envVars: { A: "1", B: "two\nlines\u001b[31m" },
    annotations: { "com.service.queue": "default" },
    secrets: ["api-key", "token"],
    constraints: ["zone=a"],
    limits: { memory: "128Mi" },
    requests: { cpu: "100m" },
    readOnlyRootFilesystem: true,
    usage: { cpu: 12.5, totalMemoryBytes: 8_388_608 },
  });
  const shown = fields.join("\n");
  for (const line of [
    /^usage +13m of CPU, 8\.0 MiB of memory$/m,
    /^process +cat$/m,
    /^read-only +root file system$/m,
    /^secrets +api-key\n +token$/m,
    /^constraints +zone=a$/m,
    /^limits +memory=128Mi$/m,
    /^requests +cpu=100m$/m,
    /^environment +A=1\n +B=two\\nlines\\u001b\[31m$/m,
    /^annotations +com\.service\.queue=default$/m,
  ])
    expect(shown).toMatch(line);
});

test("a condition that needs nobody keeps its place", () => {
  const conditions = [condition("Ready", "True"), condition("Stalled", "False"), condition("Scaling", "True")];
  expect(conditionsInOrder(conditions)).toEqual(conditions);
});
