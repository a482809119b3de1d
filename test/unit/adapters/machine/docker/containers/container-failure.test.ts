import { expect, test } from "vitest";

import { endOf } from "../../../../../../runtime/adapters/machine/docker/containers/container-failure.ts";
import type { ContainerDocument } from "../../../../../../runtime/adapters/machine/docker/engine/engine-types.ts";

function ended(
  state: Partial<ContainerDocument["State"]>,
  memory = 0,
  labels: Record<string, string> = {},
): ContainerDocument {
  return {
    Id: "id",
    Image: "image",
    State: { Running: false, OOMKilled: false, ExitCode: 0, Error: "", ...state },
    HostConfig: { Memory: memory },
    Config: { Labels: labels },
    NetworkSettings: { Networks: {} },
  };
}

test.each([
  [{ ExitCode: 3 }, ["one", "two", ""], "Error", "Replica r ended with code 3; it said last: two"],
  [{ ExitCode: 0 }, [], "Error", "Replica r ended with code 0"],
  [
    { ExitCode: 3 },
    ["no luck", "watchdog: The process ended with code 3"],
    "Error",
    "The process ended with code 3; it said last: no luck",
  ],
  [
    { ExitCode: 1 },
    ["watchdog: Cannot run the function: it has no process"],
    "CannotRun",
    "Cannot run the function: it has no process",
  ],
  [{ ExitCode: 137 }, ["watchdog: process ended with code 2"], "Error", "Replica r ended with code 137"],
  [{ ExitCode: 128, Error: "no such device" }, [], "Error", "Replica r ended with code 128: no such device"],
  [
    { ExitCode: 137, OOMKilled: true },
    [],
    "OOMKilled",
    "Replica r was killed: it used more memory than its limit of 64 MiB",
  ],
  [{ ExitCode: 0, OOMKilled: true }, [], "Error", "Replica r ended with code 0"],
])("exit %j with the lines %j is %s", (state, lines, reason, message) => {
  expect(endOf("r", ended(state, 67_108_864), lines)).toEqual({ reason, message });
});

test("a long line is cut", () => {
  expect(endOf("r", ended({ ExitCode: 1 }), ["x".repeat(10_000)]).message).toHaveLength(400);
});

test("a container killed at the platform's limit is told the name of the setting", () => {
  const container = ended({ ExitCode: 137, OOMKilled: true }, 536_870_912, { "weir.memory": "default" });
  expect(endOf("r", container, []).message).toBe(
    "Replica r was killed: it used more memory than its limit of 512 MiB, which function_memory sets as the function states none",
  );
});
