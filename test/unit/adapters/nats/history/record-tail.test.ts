import type { Msg } from "@nats-io/transport-node";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { RecordTail } from "../../../../../runtime/adapters/nats/history/record-tail.ts";
import type { NatsLink } from "../../../../../runtime/adapters/nats/link/nats-link.ts";

const options = { stream: "KV_calls", consumer: "c", inboxPrefix: "_INBOX.hs", maxBatch: 100, gatherFor: 200 };
const expiry = 5_000;
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tail of a consumer whose broker is the test. */
function openTail() {
  const asked: number[] = [];
  let receive: (err: null, message: Msg) => void = () => {};
  let delivery = 0;
  const nc = {
    subscribe: (_subject: string, { callback }: { callback: typeof receive }) => {
      receive = callback;
      return { drain: async () => {} };
    },
    publish: (_subject: string, request: string) => {
      asked.push((JSON.parse(request) as { batch: number }).batch);
    },
  };
  const link = { nc, isClosed: false, onReconnect: () => () => {} } as unknown as NatsLink;
  const tail = new RecordTail({ ...options, expiry, link });
  /** Delivers messages, the last of which says how many are left. */
  const deliver = (count: number, left: number): void => {
    for (let index = count - 1; index >= 0; index -= 1) {
      delivery += 1;
      const reply = `$JS.ACK.KV_calls.c.1.${delivery}.${delivery}.0.${left + index}`;
      receive(null, { reply, subject: `$KV.calls.${delivery}` } as Msg);
    }
  };
  const skip = (): void => void (delivery += 1);
  const say = (code: number): void => receive(null, { reply: "", headers: { code } } as unknown as Msg);
  const read = async (): Promise<number | string> => {
    const found = await tail.read(never);
    return found.kind === "messages" ? found.messages.length : found.kind;
  };
  return { asked, deliver, skip, say, read };
}

/** Lets promises that can settle do so. */
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test("one message says how many there are, which are asked for at once", async () => {
  const { asked, deliver, read } = openTail();
  const reading = read();
  expect(asked).toEqual([1]);
  deliver(1, 3);
  await settled();
  expect(asked).toEqual([1, 3]);
  deliver(3, 0);
  expect(await reading).toBe(4);
});

test("a message alone is read at once, and what follows stays with the broker for a moment", async () => {
  const { asked, deliver, read } = openTail();
  const reading = read();
  deliver(1, 0);
  expect(await reading).toBe(1);
  const next = read();
  await vi.advanceTimersByTimeAsync(options.gatherFor - 1);
  expect(asked).toEqual([1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toEqual([1, 1]);
  deliver(1, 0);
  expect(await next).toBe(1);
});

test("what comes without an end is read after three requests", async () => {
  const { asked, deliver, read } = openTail();
  const reading = read();
  deliver(1, 5);
  await settled();
  deliver(5, 2);
  await settled();
  deliver(2, 1);
  expect(await reading).toBe(8);
  expect(asked).toEqual([1, 5, 2]);
});

test("far behind, as much as a read holds is asked for while the read before is worked on", async () => {
  const { asked, deliver, read } = openTail();
  const reading = read();
  deliver(1, 499);
  await settled();
  deliver(99, 400);
  expect(await reading).toBe(100);
  expect(asked).toEqual([1, 99, 100]);
  deliver(100, 300);
  expect(await read()).toBe(100);
  expect(asked).toEqual([1, 99, 100, 100]);
});

test("messages that were replaced before they were sent are not waited for", async () => {
  const { deliver, read } = openTail();
  const reading = read();
  deliver(1, 9);
  await settled();
  deliver(4, 0);
  await vi.advanceTimersByTimeAsync(options.gatherFor);
  expect(await reading).toBe(5);
});

test("a request that expired means that all before it was read", async () => {
  const { asked, say, read } = openTail();
  const reading = read();
  await vi.advanceTimersByTimeAsync(expiry);
  say(408);
  expect(await reading).toBe("level");
  void read();
  expect(asked).toEqual([1, 1]);
});

test.each([
  ["a message that did not arrive", "skip"],
  ["another status", "status"],
  ["a request that nothing is heard of", "silence"],
])("%s ends the use of the consumer", async (_what, fault) => {
  const { deliver, skip, say, read } = openTail();
  const reading = read();
  if (fault === "skip") {
    skip();
    deliver(1, 0);
  } else if (fault === "status") say(409);
  else await vi.advanceTimersByTimeAsync(expiry + 2_000);
  expect(await reading).toBe("lost");
});
