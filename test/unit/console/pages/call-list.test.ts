import { describe, expect, test } from "vitest";

import type { CallPageView } from "../../../../runtime/api/schemas/history/call-page.ts";
import type { CallSummary } from "../../../../runtime/api/schemas/history/call-summary.ts";
import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import { CallList } from "../../../../runtime/console/pages/calls/list/call-list.ts";
import { keptList } from "../../../../runtime/console/pages/calls/list/kept-lists.ts";

const call = (second: number, state: CallSummary["state"] = "queued", endedAt?: string): CallSummary => ({
  callId: `call-${second}`,
  kind: "async",
  functionName: "hello",
  namespace: "functions",
  state,
  source: "http",
  acceptedAt: new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString(),
  retries: 0,
  ...(endedAt === undefined ? {} : { endedAt }),
});
const page = (seconds: readonly number[], next?: string): CallPageView => ({
  items: seconds.map((second) => call(second)),
  total: { value: seconds.length, exact: true },
  history: { lagSeconds: 0, complete: true, gaps: [] },
  ...(next === undefined ? {} : { next }),
});
const going = new AbortController().signal;
const shown = (list: CallList): readonly string[] => list.state.value.calls.map(({ callId }) => callId.slice(5));
const held = (list: CallList): readonly string[] => list.state.value.held.map(({ callId }) => callId.slice(5));

/** A list whose pages are given in turn. */
async function listOf(...pages: readonly (CallPageView | Error)[]) {
  const left = [...pages];
  const asked: (string | undefined)[] = [];
  const list = new CallList(async (after) => {
    asked.push(after);
    const next = left.shift();
    if (next === undefined || next instanceof Error) throw next ?? new Error("the test has no further page");
    return next;
  });
  await list.begin(going);
  return { list, asked };
}

describe("CallList", () => {
  test("older pages are added once each", async () => {
    const { list, asked } = await listOf(page([50, 40], "a"), page([40, 30]));

    await list.more(going);
    await list.more(going);

    expect(shown(list)).toEqual(["50", "40", "30"]);
    expect(asked).toEqual([undefined, "a"]);
  });

  test("reading the newest again keeps the older ones that were read", async () => {
    const { list } = await listOf(page([50, 40], "a"), page([30, 20], "b"), page([60, 50, 40], "c"));
    await list.more(going);

    await list.begin(going);

    expect(shown(list)).toEqual(["60", "50", "40", "30", "20"]);
    expect(list.state.value.next).toBe("b");
  });

  test("where the newest do not reach those that were read, they take their place", async () => {
    const { list } = await listOf(page([50, 40], "a"), page([90, 80], "c"));

    await list.begin(going);

    expect(shown(list)).toEqual(["90", "80"]);
    expect(list.state.value.next).toBe("c");
  });

  test("new calls are held back while somebody reads, those that are shown change at once", async () => {
    const { list } = await listOf(page([50, 40]));

    list.take([call(60), call(40, "done")], [], true);
    list.take([call(60, "running"), call(70)], [], true);
    expect(shown(list)).toEqual(["50", "40"]);
    expect(list.state.value.calls[1]?.state).toBe("done");
    expect(held(list)).toEqual(["60", "70"]);
    expect(list.state.value.held[0]?.state).toBe("running");
    list.release();

    expect([shown(list), held(list)]).toEqual([["70", "60", "50", "40"], []]);
  });

  test("what no longer fits the filter goes, held or shown", async () => {
    const { list } = await listOf(page([50, 40]));
    list.take([call(60)], [], true);

    list.take([], ["call-60", "call-50"], true);

    expect([shown(list), held(list)]).toEqual([["40"], []]);
  });

  test("a failure leaves what was read, and a read that is given up leaves no failure", async () => {
    const failure = new RequestFailure("history_unavailable", "Cannot list calls", { status: 503 });
    const { list } = await listOf(page([50]), failure, failure);

    await list.begin(going);
    expect(list.state.value).toMatchObject({ failure, since: undefined });
    expect(shown(list)).toEqual(["50"]);

    const { list: other } = await listOf(page([50]), failure);
    await other.begin(AbortSignal.abort());
    expect(other.state.value).toMatchObject({ failure: undefined, since: undefined });
  });

  test("calls beyond those of the stream may change unless they have ended", async () => {
    const { list } = await listOf(page([50, 40, 30]));
    expect([2, 3].map((newest) => list.mayChangeBeyond(newest))).toEqual([true, false]);

    list.take([call(30, "done", "2026-01-31T12:01:00.000Z")], [], false);

    expect(list.mayChangeBeyond(2)).toBe(false);
    list.take([call(30, "unknown")], [], false);
    expect(list.mayChangeBeyond(2)).toBe(false);
  });
});

test("whoever comes back finds the list of the address, somebody else does not", () => {
  const make = (): CallList => new CallList(() => Promise.reject(new Error("nothing is read")));
  const [one, other] = [keptList("?state=done", 1, make), keptList("", 1, make)];

  expect(keptList("?state=done", 1, make)).toBe(one);
  for (let index = 0; index < 7; index += 1) keptList(`?id=${index}`, 1, make);
  expect(keptList("?state=done", 1, make)).toBe(one);
  expect(keptList("", 1, make)).not.toBe(other);

  expect(keptList("?state=done", 2, make)).not.toBe(one);
});
