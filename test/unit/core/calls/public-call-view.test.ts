import { Value } from "typebox/value";
import { expect, test } from "vitest";

import { CallRecord } from "../../../../runtime/api/schemas/call-record.ts";
import { claimedEntry, cutRun, endedEntry, handedBackEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import { callView } from "../../../../runtime/core/calls/call-view.ts";
import { publicCallView } from "../../../../runtime/core/calls/public-call-view.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const canary = "postgres://app:hunter2@10.0.0.1:5432";
const running = claimedEntry(sampleEntry({ expires: now + 3_600_000 }), {
  owner: "me",
  takeover: false,
  now,
  maxRetries: 0,
  worker: "node-1:4711",
});

test("whoever knows an id sees state, times and statuses, but no quotation, address or machine", () => {
  for (const status of [404, 502, 503, 504]) {
    const end = { now, status, duration: 1, error: canary, replica: "10.0.0.1:8080", coldStart: 20 };
    const callback = { url: "https://u.example/p", state: "failed", attempts: 1, error: canary, first: now } as const;
    const tries = [{ number: 1, at: now, ms: 3, error: canary }];
    const failed = endedEntry(running, { state: "failed", end, reason: "exhausted", result: null });
    const view = publicCallView(callView(id, { ...failed, callback: { ...callback, tries } }, now));
    expect(JSON.stringify(view)).not.toMatch(/hunter2|10\.0\.0\.1|node-1/);
    expect([...Value.Errors(CallRecord, view)]).toEqual([]);
    expect(view).toMatchObject({ state: "failed", attempts: [{ number: 1, status, coldStartSeconds: 0.02 }] });
    expect(view.attempts[0]?.error).toBeTypeOf("string");
    expect(view.callback?.error).toBe("the callback could not be sent");
  }
});

test("sentences of the platform itself stay", () => {
  const view = publicCallView(callView(id, handedBackEntry(running, now), now));
  expect(view.attempts[0]?.error).toBe(cutRun.handedBack);
  const callback = {
    url: "https://u.example/p",
    state: "pending",
    attempts: 1,
    error: "answered 503",
    first: now,
  } as const;
  expect(publicCallView(callView(id, { ...running, callback }, now)).callback?.error).toBe("answered 503");
});
