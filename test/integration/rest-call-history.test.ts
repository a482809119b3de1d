import { describe, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallPageView } from "../../runtime/api/schemas/history/call-page.ts";
import { ledgerWith } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { awayHistory, HistoryGateway, historyAway, numberedId, openRecord } from "../support/history-gateway.ts";
import { memoryQueues } from "../support/memory-queues.ts";
import { MemoryCallLedger } from "../support/memory/memory-call-ledger.ts";

/** The routes of calls of the history, with records and history in memory. */
const minute = 60_000;
const at = (time: number): string => new Date(time).toISOString();
const whole = { lagSeconds: 0.2, complete: true, gaps: [] };

async function listed(opened: HistoryGateway, query = "", authorization?: string): Promise<readonly number[]> {
  const { items } = await opened.json<CallPageView>(`/system/calls${query}`, authorization);
  return items.map(({ callId }) => Number(callId.slice(-12)));
}

describe("the list", () => {
  test("has the calls of the history, newest first, with their total and how far it is", async () => {
    await using opened = await HistoryGateway.open();
    await opened.write(1, { state: "failed", reason: "exhausted", status: 503, retries: 10 });
    await opened.write(2);
    const page = await opened.json<CallPageView>("/system/calls");
    expect(page).toEqual({
      items: [
        expect.objectContaining({ callId: numberedId(2), state: "done" }),
        {
          callId: numberedId(1),
          kind: "async",
          functionName: "hello",
          namespace: "functions",
          queue: "default",
          state: "failed",
          reason: "exhausted",
          source: "http",
          acceptedAt: at(opened.start + minute),
          endedAt: at(opened.start + minute + 1_000),
          retries: 10,
          status: 503,
        },
      ],
      total: { value: 2, exact: true },
      history: whole,
    });
  });

  test("is narrowed by its parameters", async () => {
    await using opened = await HistoryGateway.open();
    await opened.write(1, { namespace: "dev" });
    await opened.write(2, { state: "failed", status: 503, reason: "exhausted" });
    await opened.write(3, openRecord);
    await opened.write(4, { function: "pay", queue: "slow" });
    for (const [query, expected] of [
      ["function=hello", [3, 2]],
      ["function=hello.dev", [1]],
      ["function=hello&namespace=dev", [1]],
      ["namespace=openfaas-fn", [4, 3, 2]],
      ["queue=slow", [4]],
      ["state=queued,failed", [3, 2]],
      ["status=5xx", [2]],
      ["reason=exhausted", [2]],
      [`since=${at(opened.start + 2 * minute)}&until=${at(opened.start + 4 * minute)}`, [3, 2]],
      [`id=${numberedId(3)}`, [3]],
      ["kind=sync", []],
    ] as const) {
      expect([query, await listed(opened, `?${query}`)]).toEqual([query, expected]);
    }
  });

  test("comes in pages, which new calls do not shift", async () => {
    await using opened = await HistoryGateway.open();
    for (let number = 1; number <= 5; number += 1) await opened.write(number);
    const seen: number[] = [];
    let after = "";
    for (let page = 0; page < 3; page += 1) {
      const { items, next = "" } = await opened.json<CallPageView>(`/system/calls?limit=2&after=${after}`);
      seen.push(...items.map(({ callId }) => Number(callId.slice(-12))));
      after = next;
      await opened.write(10 + page);
    }
    expect([seen, after]).toEqual([[5, 4, 3, 2, 1], ""]);
  });

  test.each([
    ["state=lost", 'Cannot read state "lost": expected queued, '],
    ["status=9xx", 'Cannot read status "9xx": expected a status'],
    ["limit=0", 'Cannot read limit "0": expected a whole number from 1 to 500'],
    ["limit=501", 'Cannot read limit "501": expected a whole number from 1 to 500'],
    ["since=yesterday", 'Cannot read since "yesterday": expected a time'],
    ["since=1h&until=2h", 'Cannot read until "2h": expected a time after since "1h"'],
    ["id=xyz", 'Cannot read id "xyz": expected the first 4 to 32'],
    ["after=x", 'Cannot read after "x": expected `next` of a page before'],
    ["function=He!", 'Cannot read function "He!": expected '],
  ])("of %s is 400", async (query, sentence) => {
    await using opened = await HistoryGateway.open();
    expect(await opened.platform.refusal("GET", `/system/calls?${query}`)).toEqual({
      status: 400,
      code: "validation_failed",
      detail: expect.stringContaining(sentence),
    });
  });

  test("of another filter's next page is 400", async () => {
    await using opened = await HistoryGateway.open();
    for (const number of [1, 2]) await opened.write(number);
    const { next = "" } = await opened.json<CallPageView>("/system/calls?limit=1");
    expect(next).not.toBe("");
    expect(await opened.platform.refusal("GET", `/system/calls?state=done&after=${next}`)).toMatchObject({
      status: 400,
      detail: expect.stringContaining("expected `next` of a page with the same filter"),
    });
  });

  test("of a function that is gone has its calls; of one that never was, 404", async () => {
    await using opened = await HistoryGateway.open();
    await opened.write(1);
    await opened.platform.call("PUT", "/system/functions", { service: "idle", image: "idle:1" });
    expect(await listed(opened, "?function=hello")).toEqual([1]);
    expect(await listed(opened, "?function=hello&state=failed")).toEqual([]);
    expect(await listed(opened, "?function=idle")).toEqual([]);
    expect(await opened.platform.refusal("GET", "/system/calls?function=idel")).toEqual({
      status: 404,
      code: "function_not_found",
      detail: 'Cannot find function "idel": it does not exist in namespace "functions"; did you mean "idle"?',
    });
  });

  test("shows only the gaps that it touches", async () => {
    await using opened = await HistoryGateway.open();
    for (const number of [1, 5]) await opened.write(number);
    const [old, late] = [
      { from: opened.start - 2 * minute, to: opened.start - minute },
      { from: opened.start + 3 * minute, to: opened.start + 4 * minute },
    ];
    opened.progress = { lagSeconds: 40, complete: false, gaps: [old, late] };
    const shown = async (query: string) => (await opened.json<CallPageView>(`/system/calls${query}`)).history;
    const view = ({ from, to }: typeof old) => ({ from: at(from), to: at(to) });
    expect(await shown("")).toEqual({ lagSeconds: 40, complete: false, gaps: [view(old), view(late)] });
    expect((await shown(`?since=${at(opened.start)}`)).gaps).toEqual([view(late)]);
    expect((await shown("?limit=1")).gaps).toEqual([]);
  });
});

describe("one call", () => {
  test("has its record, what the history adds, its timeline and what can be done with it", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1, { state: "failed", status: 400, reason: "rejected" });
    const detail = await opened.json<CallDetail>(`/system/calls/${id.toUpperCase()}`);
    expect(detail).toMatchObject({
      callId: id,
      kind: "async",
      functionName: "hello",
      state: "failed",
      reason: "rejected",
      source: "http",
      maxRetries: 10,
      replays: [],
      redrives: 0,
      actions: { cancel: `Cannot cancel call "${id}": it is failed` },
      request: { kept: false },
      logs: { kept: true, lines: 0 },
      history: whole,
    });
    expect(detail.timeline.map(({ kind }) => kind)).toEqual(["accepted", "ended"]);
  });

  test("is as its record says while the history is behind", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1, openRecord);
    await opened.writeUnseen(1);
    expect(await listed(opened, "?state=queued")).toEqual([1]);
    expect(await opened.json<CallDetail>(`/system/calls/${id}`)).toMatchObject({ state: "done" });
    // The history does not know this one at all.
    await opened.writeUnseen(2, openRecord);
    expect(await opened.json<CallDetail>(`/system/calls/${numberedId(2)}`)).toMatchObject({
      state: "queued",
      queuePosition: expect.any(Number),
    });
  });

  test("keeps the attempts that its record no longer shows", async () => {
    await using opened = await HistoryGateway.open();
    const run = (number: number) => ({
      number,
      startedAt: opened.start + minute + number,
      endedAt: opened.start + minute + number + 1,
      status: 503,
    });
    const id = await opened.write(1, { ...openRecord, attempts: [run(1), run(2)] });
    await opened.writeUnseen(1, { attempts: [run(2), run(3)] });
    const { attempts } = await opened.json<CallDetail>(`/system/calls/${id}`);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test("is shown from the history once its record is gone", async () => {
    await using opened = await HistoryGateway.open();
    await opened.keep(1, 7);
    expect(await opened.json<CallDetail>(`/system/calls/${numberedId(1)}`)).toMatchObject({ state: "done" });
  });

  test("is made from its record while the history is away", async () => {
    await using opened = await HistoryGateway.open({ history: awayHistory });
    await opened.writeUnseen(1);
    expect(await opened.json<CallDetail>(`/system/calls/${numberedId(1)}`)).toMatchObject({
      callId: numberedId(1),
      state: "done",
      timeline: [{ kind: "accepted" }, { kind: "ended" }],
      history: { lagSeconds: 0, complete: false, gaps: [] },
    });
  });

  test("is shown from the history while the broker is away", async () => {
    const brokerAway = new PlatformError("queue_unavailable", "Cannot read the call: the broker is away");
    const ledger = ledgerWith(new MemoryCallLedger(), { read: () => Promise.reject(brokerAway) });
    await using opened = await HistoryGateway.open({ queueParts: { ...memoryQueues(), ledger } });
    await opened.keep(1, 7);
    expect(await opened.json<CallDetail>(`/system/calls/${numberedId(1)}`)).toMatchObject({ state: "done" });
    expect(await opened.platform.refusal("GET", `/system/calls/${numberedId(2)}`)).toMatchObject({
      status: 503,
      code: "queue_unavailable",
    });
  });

  test("that neither knows is 404; without a record while the history is away, 503", async () => {
    await using opened = await HistoryGateway.open();
    const unknown = { status: 404, code: "call_not_found" };
    expect(await opened.platform.refusal("GET", `/system/calls/${numberedId(1)}`)).toEqual({
      ...unknown,
      detail: `Cannot show call "${numberedId(1)}": it is unknown or expired`,
    });
    expect(await opened.platform.refusal("DELETE", `/system/calls/${numberedId(1)}`)).toEqual({
      ...unknown,
      detail: `Cannot delete call "${numberedId(1)}": it is unknown or expired`,
    });
    expect(await opened.platform.refusal("GET", "/system/calls/hello")).toMatchObject({ status: 400 });
    await using without = await HistoryGateway.open({ history: awayHistory });
    const response = await without.platform.call("GET", `/system/calls/${numberedId(1)}`);
    expect([response.status, response.headers.get("retry-after"), await response.text()]).toEqual([
      503,
      "2",
      "Cannot read the history of calls: it is away\n",
    ]);
  });

  test("of synchronous calls is what the history keeps of them", async () => {
    await using opened = await HistoryGateway.open();
    const call = {
      namespace: "dev",
      name: "pay",
      id: numberedId(1),
      method: "POST",
      status: 502,
      startedAt: opened.start,
      duration: 12,
    };
    await opened.kept.apply({ changes: [{ kind: "sync", call }], rollups: [] });
    expect(await opened.json<CallDetail>(`/system/calls/${numberedId(1)}`)).toMatchObject({
      kind: "sync",
      functionName: "pay",
      state: "failed",
      actions: { replay: expect.stringMatching(/^Cannot replay call /) },
    });
  });
});

describe("the removal of a call", () => {
  test("that has ended takes it from the history", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1);
    await opened.write(2);
    expect(await opened.send("DELETE", `/system/calls/${id}`)).toEqual([202, ""]);
    expect(await listed(opened)).toEqual([2]);
    await eventually(() => opened.changed.length === 1, { what: "the change" });
    expect(opened.changed).toMatchObject([{ action: "Call:Delete", resources: ["functions:hello"], status: 202 }]);
    // Its record is the broker's, until it expires.
    expect((await opened.send("GET", `/system/calls/${id}`))[0]).toBe(200);
    // Whatever comes late of it.
    await opened.keep(1, 99);
    expect(await listed(opened)).toEqual([2]);
  });

  test("that is open is 409, also while only the history takes it for open", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1, openRecord);
    const refused = { status: 409, code: "call_not_finished" };
    expect(await opened.platform.refusal("DELETE", `/system/calls/${id}`)).toEqual({
      ...refused,
      detail: `Cannot delete call "${id}": it is queued; cancel it first`,
    });
    await opened.writeUnseen(1);
    expect(await opened.platform.refusal("DELETE", `/system/calls/${id}`)).toEqual({
      ...refused,
      detail: `Cannot delete call "${id}": the history has not seen its end yet; try again in a moment`,
    });
    expect(await listed(opened)).toEqual([1]);
  });
});

describe("what a sender may not see", () => {
  const unknown = (act: string, id: string) => [404, `Cannot ${act} call "${id}": it is unknown or expired\n`];

  test("is left out of lists and totals, and whoever may see nothing is refused", async () => {
    await using opened = await HistoryGateway.open();
    await opened.write(1, { namespace: "dev" });
    await opened.write(2);
    await opened.write(3, { namespace: "dev", function: "pay" });
    opened.tokens.allow({
      alice: [["Call:List"], ["dev:*", "functions:other"]],
      bob: [["Call:List"], ["prod:*"]],
      eve: [["Call:Get"], ["*"]],
    });
    const [alice, bob, eve] = [opened.tokens.give("alice"), opened.tokens.give("bob"), opened.tokens.give("eve")];
    expect(await listed(opened, "", alice)).toEqual([3, 1]);
    expect(await opened.json<CallPageView>("/system/calls", alice)).toMatchObject({
      total: { value: 2, exact: true },
    });
    expect(await listed(opened, "?namespace=functions", alice)).toEqual([]);
    expect(await opened.json<CallPageView>("/system/calls", bob)).toEqual({
      items: [],
      total: { value: 0, exact: true },
      history: whole,
    });
    const refused = (name: string, resource: string) => [
      403,
      `Cannot list calls${resource}: fed:${name} (https://issuer.example) has no policy that allows Call:List on `,
    ];
    const startsAs = async (authorization: string, query: string) => {
      const [status, text] = await opened.send("GET", `/system/calls${query}`, authorization);
      return [status, text.replace(/ on [^ ]*\n$/, " on ")];
    };
    expect(await startsAs(alice, "?function=hello")).toEqual(refused("alice", ' of function "hello" in "functions"'));
    expect(await startsAs(bob, "?namespace=dev")).toEqual(refused("bob", ' in "dev"'));
    expect(await startsAs(eve, "")).toEqual(refused("eve", ""));
  });

  test("is 404 by id, in the same words as an unknown call", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1, { namespace: "dev" });
    opened.tokens.allow({
      alice: [["Call:Get", "Call:Delete"], ["prod:*"]],
      bob: [["Call:Get"], ["dev:hello"]],
      carol: [["Call:Delete"], ["dev:hello"]],
      eve: [["Call:List"], ["*"]],
    });
    const [alice, bob, carol, eve] = ["alice", "bob", "carol", "eve"].map((name) => opened.tokens.give(name));
    const send = (authorization: string | undefined, method: string, path = id) =>
      opened.send(method, `/system/calls/${path}`, authorization ?? "");
    expect(await send(alice, "GET")).toEqual(unknown("show", id));
    expect(await send(alice, "DELETE")).toEqual(unknown("delete", id));
    expect(await send(alice, "GET", numberedId(2))).toEqual(unknown("show", numberedId(2)));
    expect((await send(bob, "GET"))[0]).toBe(200);
    expect(await send(bob, "DELETE")).toEqual([403, expect.stringContaining("allows Call:Delete on ")]);
    expect(await send(eve, "GET")).toEqual([403, expect.stringContaining("allows Call:Get on *")]);
    expect((await opened.kept.get(id))?.row.id).toBe(id);
    expect((await send(carol, "DELETE"))[0]).toBe(202);
  });

  test("refusals are observed", async () => {
    await using opened = await HistoryGateway.open();
    const id = await opened.write(1, { namespace: "dev" });
    opened.tokens.allow({ bob: [["Call:Get", "Call:Delete"], ["dev:hello"]], eve: [["Call:Get"], ["dev:*"]] });
    await opened.send("DELETE", `/system/calls/${id}`, opened.tokens.give("eve"));
    await opened.send("DELETE", `/system/calls/${id}`, opened.tokens.give("bob"));
    await eventually(() => opened.refused.length === 1 && opened.changed.length === 1, {
      what: "what is observed",
    });
    expect(opened.refused).toMatchObject([{ action: "Call:Delete", resources: ["*"], status: 403 }]);
    expect(opened.changed).toMatchObject([
      {
        action: "Call:Delete",
        resources: ["dev:hello"],
        by: { role: "bob", policy: "bob", sid: "1" },
        status: 202,
      },
    ]);
  });
});

const requests = [
  ["GET", "/system/calls", "list calls"],
  ["GET", `/system/calls/${numberedId(1)}`, `show call "${numberedId(1)}"`],
  ["DELETE", `/system/calls/${numberedId(1)}`, `delete call "${numberedId(1)}"`],
  ["GET", "/system/rollups", "show rollups"],
] as const;

test.each(requests)("%s %s says that history is off", async (method, path, act) => {
  await using opened = await HistoryGateway.open({ history: undefined });
  await opened.writeUnseen(1);
  expect(await opened.platform.refusal(method, path)).toEqual({
    status: 404,
    code: "history_off",
    detail: `Cannot ${act}: history is off; the setting history turns it on`,
  });
});

test.each(requests)("%s %s without a record is 503 while the history is away", async (method, path) => {
  await using opened = await HistoryGateway.open({ history: awayHistory });
  const response = await opened.platform.call(method, path, undefined, { accept: "application/json" });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await response.json()).toMatchObject({ code: "history_unavailable", detail: historyAway.message });
});
