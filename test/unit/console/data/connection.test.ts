import { expect, test } from "vitest";

import { GatewayConnection } from "../../../../runtime/console/data/requests/connection.ts";
import { tryAgainDelay } from "../../../../runtime/console/data/requests/try-again.ts";

test("tryAgainDelay() doubles from 1 s to 30 s, and takes up to a quarter off", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 100].map((tries) => tryAgainDelay(tries, () => 0));

  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(tryAgainDelay(6, () => 1)).toBe(22_500);
});

test("a lost gateway is asked again until it replies, once for all who miss it", async () => {
  const replies = [false, new Error("refused"), true];
  const waits: number[] = [];
  const connection = new GatewayConnection({
    probe: async () => {
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return reply === true;
    },
    now: () => 42,
    wait: async (delay) => void waits.push(delay),
  });

  connection.lost();
  connection.lost();

  expect(connection.state.value).toEqual({ kind: "away", since: 42, tries: 0 });
  await expect.poll(() => connection.state.value).toEqual({ kind: "there" });
  expect(connection.returns.value).toBe(1);
  expect(waits).toHaveLength(3);
  expect(replies).toEqual([]);
});
