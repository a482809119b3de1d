import { expect, test } from "vitest";

import { unreadableLetter } from "../../../../runtime/core/queues/unreadable-letter.ts";

test("a message that cannot be read is kept as it was received, with when it was stored and given up", () => {
  const raw = { headers: new Map([["weir-function", "echo.functions"]]), body: Buffer.from("abc") };
  const name = { kind: "call", id: "call-1", queue: "slow" } as const;
  expect(unreadableLetter(name, { raw, storedAt: 1_000 }, 2_000)).toEqual({
    kind: "call",
    id: "call-1",
    queue: "slow",
    function: undefined,
    reason: "undecodable",
    attempts: 0,
    lastStatus: undefined,
    acceptedAt: 1_000,
    deadAt: 2_000,
    redrives: 0,
    headers: new Map([["weir-function", "echo.functions"]]),
    body: Buffer.from("abc"),
  });
});
