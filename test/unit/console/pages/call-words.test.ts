import { expect, test } from "vitest";

import { exampleCall, type CallDetail } from "../../../../runtime/api/schemas/history/call-detail.ts";
import { timelineKinds, type TimelineStep } from "../../../../runtime/api/schemas/history/timeline-step.ts";
import { callSentence } from "../../../../runtime/console/pages/calls/one/call-sentence.ts";
import { stepPlace, stepWords } from "../../../../runtime/console/pages/calls/one/step-words.ts";

const now = Date.parse("2026-01-31T12:00:10.000Z");
const attempt = (number: number, facts: object = {}) => ({
  number,
  startedAt: "2026-01-31T12:00:00.000Z",
  ...facts,
});

test.each<[Partial<CallDetail>, string]>([
  [{ state: "queued", attempts: [] }, "It waits for a free slot"],
  [{ state: "queued", queuePosition: 1 }, "It is the next of its queue"],
  [{ state: "queued", queuePosition: 2 }, "1 call of its queue is before it"],
  [{ state: "queued", queuePosition: 1_301 }, "1,300 calls of its queue are before it"],
  [{ state: "running", attempts: [] }, "It runs"],
  [{ state: "running", attempts: [attempt(2)] }, "Run 2 goes on for 10 s"],
  [
    {
      state: "waiting",
      retries: 3,
      attempts: [attempt(3, { status: 503 })],
      nextAttemptAt: "2026-01-31T12:00:12.500Z",
    },
    "The last run ended with status 503. Retry 3 of 10 comes in 3 s",
  ],
  [
    {
      state: "waiting",
      retries: 1,
      attempts: [attempt(1, { error: "connect ECONNREFUSED" })],
      nextAttemptAt: "2026-01-31T12:00:09.000Z",
    },
    "The last run ended with connect ECONNREFUSED. Retry 1 of 10 comes now",
  ],
  [{ state: "waiting", retries: 1, attempts: [] }, "It failed. Retry 1 of 10 comes later"],
  [{ state: "done", kind: "sync", attempts: [] }, "Answered after 1 run"],
  [{ state: "done", attempts: [attempt(3, { status: 200 })] }, "Done with status 200 after 3 runs"],
  [
    { state: "failed", reason: "exhausted", attempts: [attempt(20, { status: 500 })] },
    "No retry was left; the last run ended with status 500, after 20 runs",
  ],
  [{ state: "failed", reason: "expired", attempts: [] }, "Its time was over before it could run, after 0 runs"],
  [{ state: "failed", reason: "of-a-newer-gateway", attempts: [] }, "Reason: of-a-newer-gateway, after 0 runs"],
  [{ state: "cancelled", attempts: [] }, "It was cancelled before it ran"],
  [{ state: "cancelled", attempts: [attempt(4)] }, "It was cancelled in run 4"],
  [{ state: "unknown", attempts: [] }, "Its record is gone, and its end was not seen"],
])("a call with %j: %s", (facts, sentence) => {
  expect(callSentence({ ...(exampleCall as unknown as CallDetail), ...facts }, now)).toBe(sentence);
});

test("each kind of step has words of its own, one of a newer gateway its name", () => {
  const words = timelineKinds.map((kind) => stepWords({ kind }));

  expect(new Set(words).size).toBe(timelineKinds.length);
  expect(words.filter((word, index) => word === timelineKinds[index])).toEqual([]);
  expect(stepWords({ kind: "teleported" as TimelineStep["kind"] })).toBe("teleported");
});

test("a step was at a replica, at a queue-worker, at both or nowhere", () => {
  const step: TimelineStep = { at: "2026-01-31T12:00:00.000Z", kind: "started" };

  expect(stepPlace(step)).toBe("");
  expect(stepPlace({ ...step, worker: "node-1:4711" })).toBe("node-1:4711");
  expect(stepPlace({ ...step, worker: "node-1:4711", replica: "hello-1-0" })).toBe("hello-1-0, node-1:4711");
});
