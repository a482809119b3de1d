import { describe, expect, test } from "vitest";

import type { DeadLetterView } from "../../../../runtime/api/schemas/queue-status.ts";
import type { PageRequest, Requests } from "../../../../runtime/console/data/requests/requests.ts";
import { fitsLetterFilter, readLetters } from "../../../../runtime/console/pages/queues/letters/read-letters.ts";

const letter = (second: number, facts: Partial<DeadLetterView> = {}): DeadLetterView => ({
  callId: `call-${second}`,
  functionName: "pay",
  namespace: "dev",
  reason: "crash",
  attempts: 1,
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadAt: new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString(),
  size: 1,
  advice: "Redrive it",
  ...facts,
});
const going = new AbortController().signal;

/** Queues whose letters come in pages of two. */
function requestsTo(queues: Readonly<Record<string, readonly DeadLetterView[]>>) {
  const asked: string[] = [];
  const get = async (path: string, { query = {} }: PageRequest = {}) => {
    const after = Number(query["after"] ?? 0);
    asked.push(`${path} ${after}`);
    const all = queues[/queue\/([^/]+)/.exec(path)?.[1] ?? ""] ?? [];
    const items = all.slice(after, after + 2);
    return { items, ...(after + 2 < all.length ? { next: String(after + 2) } : {}) };
  };
  return { asked, requests: { get } as unknown as Requests };
}

describe("readLetters()", () => {
  test("all pages of all queues, newest first, each with its queue", async () => {
    const { asked, requests } = requestsTo({ a: [letter(3), letter(1), letter(5)], b: [letter(4)] });

    const { letters, isWhole } = await readLetters(requests, ["a", "b"], 100, going);

    expect(letters.map(({ callId, queue }) => `${callId} ${queue}`)).toEqual([
      "call-5 a",
      "call-4 b",
      "call-3 a",
      "call-1 a",
    ]);
    expect(isWhole).toBe(true);
    expect(asked).toEqual([
      "/system/queue/a/dead-letters 0",
      "/system/queue/a/dead-letters 2",
      "/system/queue/b/dead-letters 0",
    ]);
  });

  test("no further page is read than needed, and it is said that there are more", async () => {
    const { asked, requests } = requestsTo({ a: [1, 2, 3, 4, 5, 6].map((second) => letter(second)), b: [letter(9)] });

    const { letters, isWhole } = await readLetters(requests, ["a", "b"], 3, going);

    expect([letters.length, isWhole, asked.length]).toEqual([3, false, 2]);
  });
});

test("a letter fits by function, with or without its namespace, and by reason", () => {
  const fits = (name: string, reason: string): boolean => fitsLetterFilter(letter(1), { function: name, reason });

  expect([fits("", ""), fits("pay", ""), fits("pay.dev", "crash")]).toEqual([true, true, true]);
  expect([fits("pay.prod", ""), fits("pa", ""), fits("pay", "expired")]).toEqual([false, false, false]);
  expect(
    fitsLetterFilter({ ...letter(1), functionName: undefined, namespace: undefined } as unknown as DeadLetterView, {
      function: "pay",
      reason: "",
    }),
  ).toBe(false);
});
