import { randomUUID } from "node:crypto";

import { expect, test } from "vitest";

import type { DeadLetter, DeadLetters } from "../../runtime/core/ports/dead-letters.ts";

/** What a test can see of a letter that was kept. */
export type KeptLetter = Pick<
  DeadLetter,
  "kind" | "id" | "queue" | "reason" | "attempts" | "lastStatus" | "redrives" | "function"
> & {
  readonly body: readonly number[];
  /** Value of the original's header `Weir-Headers`. */
  readonly original: string | undefined;
};

export interface OpenDeadLetters {
  readonly letters: DeadLetters;
  /** All that is kept, in the order in which it came. */
  list(): Promise<readonly KeptLetter[]>;
  close(): Promise<void>;
}

const letter = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  kind: "call",
  id: randomUUID(),
  queue: "default",
  function: { namespace: "functions", name: "echo" },
  reason: "exhausted",
  attempts: 11,
  lastStatus: 503,
  acceptedAt: 1_790_000_000_000,
  deadAt: 1_790_000_001_000,
  redrives: 0,
  headers: new Map([
    ["Weir-Call", randomUUID()],
    ["Weir-Headers", '["Content-Type","text/plain"]'],
  ]),
  body: Buffer.from([0, 255, 10]),
  ...over,
});

/** What every `DeadLetters` must do. */
export function deadLettersContract(open: () => Promise<OpenDeadLetters>): void {
  const seen = ({
    kind,
    id,
    queue,
    reason,
    attempts,
    lastStatus,
    redrives,
    function: ref,
    body,
    headers,
  }: DeadLetter): KeptLetter => ({
    kind,
    id,
    queue,
    reason,
    attempts,
    lastStatus,
    redrives,
    function: ref,
    body: [...body],
    original: headers.get("Weir-Headers"),
  });

  test("keeps what it is given, call and callback of one id beside each other", async () => {
    const { letters, list, close } = await open();
    const call = letter();
    const callback = letter({
      id: call.id,
      kind: "callback",
      reason: "callback",
      lastStatus: undefined,
      body: Buffer.alloc(0),
    });
    const unreadable = letter({ function: undefined, reason: "undecodable", headers: new Map() });
    for (const each of [call, callback, unreadable]) await letters.put(each);
    expect(await list()).toEqual([call, callback, unreadable].map(seen));
    await close();
  });

  test("keeps the same letter once, and of redrives the last", async () => {
    const { letters, list, close } = await open();
    const call = letter();
    await letters.put(call);
    await letters.put({ ...call, attempts: 99 });
    expect(await list()).toEqual([seen(call)]);
    const redriven = { ...call, redrives: 1, attempts: 3 };
    await letters.put(redriven);
    expect(await list()).toEqual([seen(redriven)]);
    await close();
  });

  test("keeps headers of any sort", async () => {
    const { letters, list, close } = await open();
    const odd = letter({
      headers: new Map([
        ["Weir-Headers", '["X-Word","na\u00efve \u20ac"]'],
        ["x-odd name", "value"],
        ["X-Empty", ""],
        ["Weir-", " "],
        ["", "nameless"],
      ]),
    });
    await letters.put(odd);
    expect(await list()).toEqual([seen(odd)]);
    await close();
  });
}
