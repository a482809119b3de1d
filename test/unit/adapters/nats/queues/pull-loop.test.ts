import { headers, type Msg, type MsgHdrs, type Subscription } from "@nats-io/transport-node";
import { afterEach, expect, test, vi } from "vitest";

import type { NatsLink } from "../../../../../runtime/adapters/nats/link/nats-link.ts";
import { PullLoop } from "../../../../../runtime/adapters/nats/queues/pull-loop.ts";

afterEach(() => vi.useRealTimers());

/** A loop whose connection hands over what the test gives. */
function openLoop() {
  let deliver: (message: Partial<Msg>) => void = () => {};
  const asked: unknown[] = [];
  const nc = {
    publish: (_subject: string, request: string) => asked.push(JSON.parse(request)),
    subscribe: (_subject: string, { callback }: { readonly callback: (err: null, message: Msg) => void }) => {
      deliver = (message) => callback(null, message as Msg);
      return { drain: async () => {} } as unknown as Subscription;
    },
  };
  const messages: Msg[] = [];
  const codes: number[] = [];
  const loop = new PullLoop({
    link: { nc, isClosed: false } as unknown as NatsLink,
    stream: "KV_calls",
    consumer: "history",
    expiry: 5_000,
    inbox: "_INBOX.test",
    onMessage: (message) => messages.push(message),
    onStatus: (code) => codes.push(code),
  });
  loop.ask(3);
  return { loop, messages, codes, asked, deliver: (message: Partial<Msg>) => deliver(message) };
}

function statusHeaders(code: number): MsgHdrs {
  return headers(code, "a status");
}

test("a delivery counts without its headers being parsed, whatever they say", () => {
  const { loop, messages, codes, deliver } = openLoop();
  deliver({
    reply: "$JS.ACK.KV_calls.history.1.1.1.1790000000000000000.2",
    get headers(): MsgHdrs {
      throw new Error("the headers of a delivery were parsed");
    },
  });
  deliver({ reply: "$JS.ACK.KV_calls.history.1.2.2.1790000000000000000.1", headers: statusHeaders(503) });
  expect([messages.length, codes, loop.left]).toEqual([2, [], 1]);
});

test("a status ends the request; others than failures mean nothing", () => {
  const { loop, messages, codes, deliver } = openLoop();
  deliver({ reply: "", headers: statusHeaders(100) });
  expect([codes, loop.left]).toEqual([[], 3]);
  deliver({ headers: statusHeaders(408) });
  expect([messages.length, codes, loop.left]).toEqual([0, [408], 0]);
});

test("a request counts as lost when no sign of it comes for 2.5 s, as whoever leads the consumer hangs or lost it", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { loop, asked, deliver } = openLoop();
  expect(asked).toEqual([{ batch: 3, expires: 5_000_000_000, idle_heartbeat: 1_000_000_000 }]);
  vi.advanceTimersByTime(2_400);
  deliver({ reply: "", headers: statusHeaders(100) });
  vi.advanceTimersByTime(2_400);
  deliver({ reply: "$JS.ACK.KV_calls.history.1.1.1.1790000000000000000.2" });
  vi.advanceTimersByTime(2_400);
  expect(loop.left).toBe(2);
  vi.advanceTimersByTime(200);
  expect(loop.left).toBe(0);
});
