import { describe, expect, test } from "vitest";

import { findRequest } from "../../../../../runtime/core/history/requests/find-request.ts";
import type { CallRow } from "../../../../../runtime/core/history/history-row.ts";
import { asyncCallRow } from "../../../../../runtime/core/history/call-row.ts";
import type { DeadLetter } from "../../../../../runtime/core/ports/dead-letters.ts";
import { sampleCall, sampleEntry } from "../../../../contract/samples.ts";
import { encodeCall } from "../../../../support/memory/memory-call-queue.ts";
import { MemoryDeadLetters } from "../../../../support/memory/memory-dead-letters.ts";
import { MemoryKeptRequests } from "../../../../support/memory/memory-kept-requests.ts";

const call = sampleCall({ path: "/letter", headers: ["Authorization", "x", "Accept", "*/*"] });
const day = 24 * 3_600_000;

function rowOf(over: Partial<CallRow>): { readonly row: CallRow } {
  return { row: { ...asyncCallRow(call.id, 1, sampleEntry({}, call)), ...over } };
}

async function sources(letter: Partial<DeadLetter> = {}) {
  const letters = new MemoryDeadLetters();
  const asked: string[] = [];
  await letters.put({
    kind: "call",
    id: call.id,
    queue: call.queue,
    function: call.function,
    reason: "exhausted",
    attempts: 1,
    lastStatus: 503,
    acceptedAt: 0,
    deadAt: 1_000,
    redrives: 0,
    ...encodeCall(call),
    ...letter,
  });
  const requests = new MemoryKeptRequests();
  await requests.put({ call: { ...call, path: "/kept" }, redacted: [] }, 60_000);
  const find = (queue: string, id: string) => {
    asked.push(id);
    return letters.find(queue, id);
  };
  return { asked, sources: { letters: { find }, requests } };
}

describe("findRequest()", () => {
  test.each<[string, Partial<CallRow>, string | undefined]>([
    ["a call that was given up: its dead letter", { state: "failed", reason: "crash" }, "/letter"],
    ["a call whose end was not seen: its dead letter", { state: "unknown" }, "/letter"],
    ["a call that was rejected: what was kept", { state: "failed", reason: "rejected" }, "/kept"],
    ["a call that is done: what was kept", { state: "done" }, "/kept"],
    ["a call that was answered at once: nothing", { kind: "sync", state: "failed" }, undefined],
    ["a call of another function: nothing", { name: "other", state: "done" }, undefined],
  ])("of %s", async (_name, row, path) => {
    const { sources: given } = await sources();
    expect((await findRequest(given, rowOf(row)))?.call.path).toBe(path);
  });

  test("asks for a dead letter only where there may be one", async () => {
    const { asked, sources: given } = await sources();
    for (const state of ["queued", "running", "waiting", "done", "cancelled"] as const)
      await findRequest(given, rowOf({ state }));
    expect(asked).toEqual([]);
  });

  test("has neither credentials of a dead letter nor one that cannot be read; it ends after 14 days", async () => {
    const { sources: readable } = await sources();
    const row = rowOf({ state: "failed", reason: "exhausted" });
    const found = await findRequest(readable, row);
    expect(found?.call.headers).toEqual(["Accept", "*/*"]);
    expect(found).toMatchObject({ redacted: ["authorization"], expiresAt: 1_000 + 14 * day });
    const { sources: unreadable } = await sources({ headers: new Map() });
    expect((await findRequest(unreadable, row))?.call.path).toBe("/kept");
  });
});
