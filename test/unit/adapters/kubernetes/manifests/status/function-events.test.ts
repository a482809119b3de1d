import { expect, test } from "vitest";

import type { FunctionCondition } from "../../../../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { functionEvents } from "../../../../../../runtime/adapters/kubernetes/manifests/status/function-events.ts";
import { functionObjectOf } from "../../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { plain } from "../../function-samples.ts";

const now = Date.parse("2026-02-01T12:00:00.500Z");
const stored = functionObjectOf(plain);
const object = { ...stored, metadata: { ...stored.metadata, uid: "u1", resourceVersion: "7" } };

/** Reads texts such as `Ready=False Starting`. */
function conditions(texts: readonly string[]): FunctionCondition[] {
  return texts.map((text) => {
    const [, type = "", value, reason = ""] = /^(\w+)=(True|False) (\w+)$/.exec(text) ?? [];
    const status = value === "True" ? "True" : "False";
    return { type, status, reason, message: `${reason}.`, lastTransitionTime: "2026-02-01T11:00:00.000Z" };
  });
}

const fine = ["Ready=True ReplicasReady", "Stalled=False Progressing"];
const starting = ["Ready=False NoReplicaReady", "Stalled=False Progressing"];
const scaledToZero = ["Ready=True ScaledToZero", "Stalled=False Progressing"];
const stalled = ["Ready=False NoReplicaReady", "Stalled=True ImagePullBackOff"];

test.each<[what: string, before: readonly string[], after: readonly string[], expected: readonly string[]]>([
  ["no change", fine, fine, []],
  ["a new one that starts", [], starting, []],
  ["a new one that cannot start", [], stalled, ["Warning ImagePullBackOff"]],
  ["one that becomes ready", starting, fine, ["Normal ReplicasReady"]],
  ["one whose last replica is lost", fine, starting, ["Warning NoReplicaReady"]],
  ["one that stalls after it was ready", fine, stalled, ["Warning ImagePullBackOff", "Warning NoReplicaReady"]],
  ["the same reason", stalled, stalled, []],
  ["a new reason", stalled, ["Ready=False NoReplicaReady", "Stalled=True SecretNotFound"], ["Warning SecretNotFound"]],
  ["recovery", stalled, fine, ["Normal Recovered", "Normal ReplicasReady"]],
  ["scaled to zero", fine, scaledToZero, []],
  ["a call that wakes it", scaledToZero, starting, []],
])("%s", (_what, before, after, expected) => {
  const status = { conditions: conditions(before) };
  const events = functionEvents({ ...object, status }, conditions(after), now);
  expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(expected);
});

test("an event names the object, has a unique name, and its message is cut to the limit", () => {
  const [condition] = conditions(["Stalled=True ImagePullBackOff"]);
  const long = { ...condition, message: "x".repeat(3_000) } as FunctionCondition;
  const [event, other] = functionEvents(object, [long, ...conditions(["Ready=True ReplicasReady"])], now);
  expect(event).toMatchObject({
    metadata: { name: expect.stringMatching(/^hello\.[0-9a-f]+0$/), namespace: "functions" },
    involvedObject: { apiVersion: "service.com/v1", kind: "Function", name: "hello", uid: "u1", resourceVersion: "7" },
    message: "x".repeat(1_024),
    firstTimestamp: "2026-02-01T12:00:00Z",
    count: 1,
  });
  expect(other?.metadata.name).not.toBe(event?.metadata.name);
});
