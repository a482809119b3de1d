import { expect, test } from "vitest";

import { replicaEndFailure, type ReplicaEnd } from "../../../../runtime/core/replicas/replica-end.ts";

const mebibyte = 1_048_576;
const end: ReplicaEnd = { outOfMemory: false, code: 3, words: "", memoryLimit: 0, isDefaultLimit: false };
const killed = "Replica r was killed: it used more memory than";

test.each<[what: string, over: Partial<ReplicaEnd>, lines: string[], reason: string, message: string]>([
  ["nothing said", {}, [], "Error", "Replica r ended with code 3"],
  ["words of the engine", { words: "no such device" }, [], "Error", "Replica r ended with code 3: no such device"],
  ["last line", {}, ["one", " two ", " "], "Error", "Replica r ended with code 3; it said last: two"],
  [
    "lines of the watchdog are skipped",
    {},
    ["one", "watchdog: it listens"],
    "Error",
    "Replica r ended with code 3; it said last: one",
  ],
  [
    "last words of the watchdog",
    {},
    ["one", " watchdog: The process ended with code 1 ", " ", ""],
    "Error",
    "The process ended with code 1; it said last: one",
  ],
  [
    "the last line of the watchdog",
    {},
    ["watchdog: The process ended with code 1", "one"],
    "Error",
    "Replica r ended with code 3; it said last: one",
  ],
  [
    "a line that only looks like the watchdog's",
    {},
    ["my watchdog: The process is fine"],
    "Error",
    "Replica r ended with code 3; it said last: my watchdog: The process is fine",
  ],
  [
    "a function that cannot be run",
    {},
    ["watchdog: Cannot run the function: it has no process"],
    "CannotRun",
    "Cannot run the function: it has no process",
  ],
  [
    "the line with the cause, where it is not the last",
    {},
    ["Error: no port", "    at main (app.js:1:1)", "", "Node.js v26.1.0"],
    "Error",
    "Replica r ended with code 3; it said: Error: no port",
  ],
  ["another error of the watchdog", {}, ["watchdog: Cannot listen on 8080"], "Error", "Cannot listen on 8080"],
  ["out of memory without a limit", { outOfMemory: true }, [], "OOMKilled", `${killed} there is`],
  [
    "out of memory at its own limit",
    { outOfMemory: true, memoryLimit: 128 * mebibyte },
    ["one", "watchdog: The process ended with code 1"],
    "OOMKilled",
    `${killed} its limit of 128 MiB; it said last: one`,
  ],
  [
    "out of memory at the platform's limit",
    { outOfMemory: true, memoryLimit: 1_000, isDefaultLimit: true },
    [],
    "OOMKilled",
    `${killed} its limit of 1000 bytes, which function_memory sets as the function states none`,
  ],
  [
    "a child was killed, the function was not",
    { outOfMemory: true, code: 0 },
    [],
    "Error",
    "Replica r ended with code 0",
  ],
])("%s", (_what, over, lines, reason, message) => {
  expect(replicaEndFailure("r", { ...end, ...over }, lines)).toEqual({ reason, message });
});

test("a message has at most 400 characters", () => {
  expect(replicaEndFailure("r", end, ["x".repeat(1_000)]).message).toHaveLength(400);
});
