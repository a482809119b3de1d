import { describe, expect, test } from "vitest";

import type { Finding } from "../../../../runtime/api/schemas/doctor-report.ts";
import type { AuditRecord } from "../../../../runtime/api/schemas/iam/audit.ts";
import type { QueueStatus } from "../../../../runtime/api/schemas/queue-status.ts";
import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import type { PageRequest, Requests } from "../../../../runtime/console/data/requests/requests.ts";
import { AuditPanel } from "../../../../runtime/console/pages/access/audit-trail.ts";
import { decisionSentence } from "../../../../runtime/console/pages/access/decision-sentence.ts";
import { patiently } from "../../../../runtime/console/pages/calls/many/patiently.ts";
import { queueWords } from "../../../../runtime/console/pages/queues/queue-words.ts";
import { withChanges } from "../../../../runtime/console/pages/queues/use-queues.ts";
import { toneOf, worstFirst } from "../../../../runtime/console/pages/system/finding-order.ts";
import { judgeProvider } from "../../../../runtime/core/doctor/judge-provider.ts";
import { vitalProblems } from "../../../../runtime/console/shell/notice-bars.tsx";

const queue = (facts: Partial<QueueStatus> = {}): QueueStatus => ({
  name: "default",
  queued: 0,
  waiting: 0,
  running: 0,
  deadLetters: 0,
  workers: 1,
  maxInflight: 1,
  timeout: "30s",
  ackWait: "60s",
  oldestAgeSeconds: 0,
  limit: 100,
  ...facts,
});

test.each<[Partial<QueueStatus>, string, string]>([
  [{}, "good", "empty"],
  [{ waiting: 2 }, "warn", "retries wait"],
  [{ running: 1, waiting: 2 }, "busy", "runs calls"],
  [{ queued: 3, running: 1, why: "All slots run calls" }, "warn", "calls wait"],
  [{ running: 1, why: "All slots run calls" }, "busy", "runs calls"],
  [{ workers: 0 }, "warn", "no worker"],
  [{ workers: 0, queued: 1 }, "bad", "no worker"],
  [{ queued: 60, waiting: 30, running: 10 }, "bad", "full"],
])("a queue with %j is %s: %s", (facts, tone, state) => {
  expect(queueWords(queue(facts))).toEqual({ tone, state });
});

test("an event changes, adds and removes queues, which stay sorted", () => {
  const before = ["a", "c"].map((name) => queue({ name }));

  const after = withChanges(before, {
    queues: [queue({ name: "c", queued: 5 }), queue({ name: "b" })],
    removed: ["a"],
  });

  expect(after.map(({ name, queued }) => `${name} ${queued}`)).toEqual(["b 0", "c 5"]);
});

describe("findings", () => {
  const finding = (id: string, level: Finding["level"]): Finding => ({ id, level, subject: id, sentence: "so" });

  test("the worst come first, otherwise in their order", () => {
    const found = [finding("a", "ok"), finding("b", "warning"), finding("c", "problem"), finding("d", "problem")];

    expect(worstFirst(found).map(({ id }) => id)).toEqual(["c", "d", "b", "a"]);
    expect(found.map(toneOf)).toEqual(["good", "warn", "bad", "bad"]);
    expect(toneOf({ level: "catastrophe" as Finding["level"] })).toBe("warn");
  });

  test("above every page stand problems without which nothing works, no others", () => {
    const findings = [
      finding("broker", "problem"),
      finding("store", "warning"),
      ...judgeProvider({ provider: { fault: "Cannot reach it" }, place: { edition: "pro", home: "machine" } }),
      finding("timeouts", "problem"),
    ];

    expect(vitalProblems({ checkedAt: "", parts: [], findings }).map(({ id }) => id)).toEqual(["broker", "provider"]);
    expect(vitalProblems(undefined)).toEqual([]);
  });
});

test.each([
  [{ allowed: true, role: "administrator" }, "The administrator may do everything"],
  [{ allowed: true, role: "readers" }, 'By Role "readers"'],
  [
    { allowed: true, role: "readers", policy: "see", sid: "1" },
    'Role "readers" gives Policy "see", whose statement "1" allows it',
  ],
  [{ allowed: false }, "No Role gives a Policy that allows it"],
  [
    { allowed: false, missing: { action: "Secret:List", resource: "dev:*" }, reportedBy: "trial" },
    'No Role gives a Policy that allows Secret:List on dev:*; Role "trial", which is in mode report, would have',
  ],
] as const)("a decision %j: %s", (decision, sentence) => {
  expect(decisionSentence(decision as Parameters<typeof decisionSentence>[0])).toBe(sentence);
});

describe("patiently()", () => {
  const busy = new RequestFailure("too_many_calls", "Cannot call", { status: 429, retryAfterSeconds: 0 });

  test("what a busy gateway refuses is sent until it is taken, and the wait is told", async () => {
    const replies: (Error | string)[] = [busy, busy, "done"];
    const waits: number[] = [];
    const send = async (): Promise<string> => {
      const reply = replies.shift() ?? "";
      if (reply instanceof Error) throw reply;
      return reply;
    };

    expect(await patiently(send, new AbortController().signal, (seconds) => waits.push(seconds))).toBe("done");
    expect(waits).toEqual([0, 0, 0, 0]);
  });

  test("another refusal ends it, as does a stop", async () => {
    const refused = new RequestFailure("forbidden", "Cannot cancel", { status: 403 });
    let sent = 0;
    const send = (err: Error) => async (): Promise<never> => {
      sent += 1;
      throw err;
    };

    await expect(patiently(send(refused), new AbortController().signal, () => {})).rejects.toBe(refused);
    await expect(patiently(send(busy), AbortSignal.abort(), () => {})).rejects.toBe(busy);
    expect(sent).toBe(2);
  });
});

describe("AuditPanel", () => {
  const query = { since: new Date(0), subject: "", action: "Secret:Delete", allowed: "", follow: false };
  const record = (id: number): AuditRecord => ({ id: String(id), time: "2026-01-31T12:00:00.000Z" }) as AuditRecord;
  const going = new AbortController().signal;

  test("records stand newest first, and only what is given narrows them", async () => {
    const asked: PageRequest["query"][] = [];
    const requests = {
      open: async (_method: string, _path: string, { query: sent }: PageRequest) => {
        asked.push(sent);
        return new Response([1, 2, 3].map((id) => `${JSON.stringify(record(id))}\n`).join("\n"));
      },
    } as unknown as Requests;
    const panel = new AuditPanel(requests);

    await panel.read(query, going);

    expect(panel.state.value).toMatchObject({ failure: undefined, since: undefined });
    expect(panel.state.value.records.map(({ id }) => id)).toEqual(["3", "2", "1"]);
    expect(asked).toEqual([{ since: "1970-01-01T00:00:00.000Z", action: "Secret:Delete" }]);
  });

  test("a failure is kept, one of a read that was given up is not", async () => {
    const failure = new RequestFailure("forbidden", "Cannot read the audit", { status: 403 });
    const panel = new AuditPanel({ open: () => Promise.reject(failure) } as unknown as Requests);

    await panel.read(query, going);
    expect(panel.state.value).toMatchObject({ records: [], failure, since: undefined });
    await panel.read(query, AbortSignal.abort());

    expect(panel.state.value.failure).toBeUndefined();
  });
});
