import { Empty, headers, type Msg } from "@nats-io/transport-node";
import { beforeEach, expect, test } from "vitest";

import { AnswerWatch } from "../../../../../runtime/adapters/nats/link/answer-watch.ts";

/** A reply with this body, or with this status alone. */
function reply(body: string | number): Msg {
  const [data, head] =
    typeof body === "string" ? [Buffer.from(body), undefined] : [Empty, headers(body, "No Responders")];
  return { subject: "", sid: 0, data, ...(head === undefined ? {} : { headers: head }) } as unknown as Msg;
}

const stored = reply('{"stream":"KV_calls","seq":7}');
const notNow = reply(
  '{"error":{"code":503,"err_code":10008,"description":"JetStream system temporarily unavailable"}}',
);
const nobody = reply(503);

let now: number;
let silent: number[];
let watch: AnswerWatch;
beforeEach(() => {
  now = 1_000;
  silent = [];
  watch = new AnswerWatch(
    () => silent.push(now),
    () => now,
  );
});

/** One request every half second, each with this outcome, for a time. */
function ask(milliseconds: number, outcome: Msg | undefined, subject = "$KV.calls.x"): void {
  for (const end = now + milliseconds; now < end; now += 500) {
    watch.asked();
    watch.ended(subject, outcome);
  }
}

test.each([
  ["no reply", undefined],
  ["no responders", nobody],
  ["a refusal for now", notNow],
])("a server is silent after 3 s with %s, then after 6, 12 and 24 s more at most", (_what, outcome) => {
  ask(100_000, outcome);
  expect(silent).toEqual([4_000, 10_000, 22_000, 46_000, 70_000, 94_000]);
});

test.each([
  ["an acknowledgement", stored],
  ["a refusal of the request", reply('{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"}}')],
  ["a reply of the API", reply('{"type":"io.nats.jetstream.api.v1.stream_info_response"}')],
  ["an empty reply", reply("")],
])("%s now and then is an answer", (_what, answer) => {
  for (let round = 0; round < 20; round += 1) {
    ask(2_500, undefined);
    ask(500, answer);
  }
  expect(silent).toEqual([]);
});

test("what any server reads from its own store is none", () => {
  for (let round = 0; round < 8; round += 1) {
    ask(500, undefined);
    ask(500, reply("x"), "$JS.API.DIRECT.GET.KV_results.x");
  }
  expect(silent).toEqual([4_000]);
});

test("requests that are far apart do not add up, and another server begins anew", () => {
  for (let round = 0; round < 5; round += 1) {
    ask(500, undefined);
    now += 60_000;
  }
  ask(2_500, undefined);
  watch.restart();
  ask(3_000, undefined);
  expect(silent).toEqual([]);
});
