import { expect, test } from "vitest";

import type { FunctionCondition } from "../../../../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { functionEvents } from "../../../../../../runtime/adapters/kubernetes/manifests/status/function-events.ts";
import { functionObjectOf } from "../../../../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { plain } from "../../function-samples.ts";

const now = Date.parse("2026-02-01T12:00:00.500Z");
const stored = functionObjectOf(plain);
const object = { ...stored, metadata: { ...stored.metadata, uid: "u1", resourceVersion: "7" } };

/** `Ready=False Starting` */
function conditions(texts: readonly string[]): FunctionCondition[] {
  return texts.map((text) => {
    const [, type = "", said, reason = ""] = /^(\w+)=(True|False) (\w+)$/.exec(text) ?? [];
    const status = said === "True" ? "True" : "False";
    return { type, status, reason, message: `${reason}.`, lastTransitionTime: "2026-02-01T11:00:00.000Z" };
  });
}

const fine = ["Ready=True ReplicasReady", "Stalled=False Progressing"];
const starting = ["Ready=False NoReplicaReady", "Stalled=False Progressing"];
const asleep = ["Ready=True ScaledToZero", "Stalled=False Progressing"];
const stuck = ["Ready=False NoReplicaReady", "Stalled=True ImagePullBackOff"];

test.each<[what: string, before: readonly string[], after: readonly string[], told: readonly string[]]>([
  ["nothing", fine, fine, []],
  ["a new one that starts", [], starting, []],
  ["a new one that cannot start", [], stuck, ["Warning ImagePullBackOff"]],
  ["one that becomes ready", starting, fine, ["Normal ReplicasReady"]],
  ["one whose last replica is lost", fine, starting, ["Warning NoReplicaReady"]],
  ["one that is stuck and was ready", fine, stuck, ["Warning ImagePullBackOff", "Warning NoReplicaReady"]],
  ["the same trouble", stuck, stuck, []],
  ["another trouble", stuck, ["Ready=False NoReplicaReady", "Stalled=True SecretNotFound"], ["Warning SecretNotFound"]],
  ["the end of trouble", stuck, fine, ["Normal Recovered", "Normal ReplicasReady"]],
  ["sleep", fine, asleep, []],
  ["a call that wakes it", asleep, starting, []],
])("%s", (_what, before, after, told) => {
  const status = { conditions: conditions(before) };
  const events = functionEvents({ ...object, status }, conditions(after), now);
  expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(told);
});

test("an event names the object, has a name of its own, and no more text than is taken", () => {
  const [stalled] = conditions(["Stalled=True ImagePullBackOff"]);
  const long = { ...stalled, message: "x".repeat(3_000) } as FunctionCondition;
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
