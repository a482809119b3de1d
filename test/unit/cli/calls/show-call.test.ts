import { describe, expect, test } from "vitest";

import type { CallRecord } from "../../../../runtime/api/schemas/call-record.ts";
import type { CallDetail } from "../../../../runtime/api/schemas/history/call-detail.ts";
import type { TimelineStep } from "../../../../runtime/api/schemas/history/timeline-step.ts";
import { detailText } from "../../../../runtime/cli/commands/calls/detail-text.ts";
import { timelineEvents } from "../../../../runtime/cli/commands/calls/timeline-events.ts";
import { noRoute, openPretendedGateway, problem, type PretendedReply } from "../../../support/pretended-gateway.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const at = (seconds: number): string =>
  new Date(Date.parse("2026-01-31T12:00:00.000Z") + seconds * 1_000).toISOString();

const record: CallRecord = {
  callId: id,
  functionName: "hello",
  namespace: "functions",
  queue: "default",
  state: "done",
  acceptedAt: at(0),
  startTime: "1769860800000000000",
  endedAt: at(3),
  retries: 1,
  maxRetries: 10,
  attempts: [],
};
const detail: CallDetail = {
  ...record,
  kind: "async",
  source: "http",
  replays: [],
  redrives: 0,
  timeline: [
    { at: at(0), kind: "accepted" },
    { at: at(1), kind: "taken", attempt: 1, worker: "node-1:4711" },
  ],
  actions: { cancel: "Cannot cancel it: it is done", redrive: "Cannot redrive it: it is done", replay: true },
  request: { kept: false },
  logs: { kept: false },
  history: { lagSeconds: 0.1, complete: true, gaps: [] },
};

/** A gateway that replies these to requests of the history and of records. */
function gatewayOf(history: PretendedReply, ofRecord: PretendedReply = { json: record }) {
  return openPretendedGateway(({ target }) => {
    if (target === `/system/calls/${id}`) return history;
    return target === `/async-function/${id}` ? ofRecord : noRoute;
  });
}

describe("weir calls show", () => {
  test("shows what the history knows", async () => {
    await using gateway = await gatewayOf({ json: detail });
    const { code, stdout, stderr } = await gateway.run(["calls", "show", id]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/ \+1\.000s +run 1 taken +by node-1:4711\n$/);
    expect(JSON.parse((await gateway.run(["calls", "show", id, "-o", "json"])).stdout)).toEqual(detail);
    expect(new Set(gateway.requests.map(({ target }) => target))).toEqual(new Set([`/system/calls/${id}`]));
  });

  test.each([
    ["there is no history", noRoute],
    ["history is off", problem(404, "history_off", "Cannot show the call: history is off")],
    ["the history is away", problem(503, "history_unavailable", "Cannot read the history of calls: it is away")],
    ["credentials are missing", problem(401, "credentials_required", "invalid credentials")],
    ["no policy allows it", problem(403, "forbidden", "Cannot show calls: no policy allows it")],
  ])("shows the record where %s", async (_name, refused) => {
    await using gateway = await gatewayOf(refused);
    const { code, stdout, stderr } = await gateway.run(["calls", "show", id, "-o", "json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual(record);
  });

  const unknown = problem(404, "call_not_found", "Cannot show call: it is unknown or expired");
  test.each([
    ["the history is away", problem(503, "history_unavailable", "Cannot read the history of calls: it is away"), 5],
    ["no policy allows it", problem(403, "forbidden", "Cannot show calls: no policy allows it"), 4],
    ["there is no history", noRoute, 3],
  ])("says why without a record where %s", async (_name, refused, exit) => {
    await using gateway = await gatewayOf(refused, unknown);
    const { code, stdout, stderr } = await gateway.run(["calls", "show", id]);
    expect([code, stdout]).toEqual([exit, ""]);
    const { detail: sentence } = (exit === 3 ? unknown : refused).json as { readonly detail: string };
    expect(stderr.split("\n")[0]).toBe(sentence);
  });

  test("does not ask for the record of a call that the history does not know", async () => {
    await using gateway = await gatewayOf(unknown);
    expect(await gateway.run(["calls", "show", id])).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("of successful synchronous calls only a sample is kept"),
    });
    expect(gateway.requests).toHaveLength(1);
  });

  test("warns of a history that knows no more than the record", async () => {
    const history = { lagSeconds: 0, complete: false, gaps: [] };
    await using gateway = await gatewayOf({ json: { ...detail, history } });
    const { code, stderr } = await gateway.run(["calls", "show", id, "-q"]);
    expect([code, stderr]).toEqual([0, "The history of calls is not up to date: it is away or only partly read\n"]);
  });
});

describe("the text of a call", () => {
  test("has facts only where there are some", () => {
    const [facts = ""] = detailText(detail).split("\n\n");
    expect(facts.split("\n")).toEqual([
      `call      ${id}`,
      "function  hello.functions",
      "queue     default",
      "state     done",
      "retries   1 of 10",
    ]);
  });

  test("says who sent it, what became of it, and what is kept", () => {
    const other = id.replace(/.$/, "1");
    const text = detailText({
      ...detail,
      principal: { subject: "fed:alice", issuer: "https://issuer.example" },
      replayOf: other,
      replays: [other],
      redrives: 2,
      result: { href: "", status: 200, size: 5, stored: true, expiresAt: at(3_600) },
      callback: { url: "https://example.com/done", state: "sent", attempts: 1, status: 200 },
      request: { kept: true, size: 1, expiresAt: at(60) },
      logs: { kept: true, lines: 3 },
    });
    for (const line of [
      /^sent by +fed:alice \(https:\/\/issuer\.example\)$/m,
      new RegExp(`^replay of +${other}$`, "m"),
      new RegExp(`^replayed +${other}$`, "m"),
      /^redriven +2 times$/m,
      /^result +status 200, 5 bytes, kept until \d{4}-/m,
      /^callback +https:\/\/example\.com\/done \(sent, sent once, last status 200\)$/m,
      /^request +1 byte, kept until \d{4}-/m,
      /^logs +3 lines$/m,
    ])
      expect(text).toMatch(line);
  });

  test("ends with what failed runs wrote to standard error, made safe to show", () => {
    const lines = ["Error: no such order", "    at \u001b[31mpay"];
    const text = detailText({
      ...detail,
      attempts: [
        { number: 1, startedAt: at(1), endedAt: at(2), status: 500, stderrTail: { lines, match: "window" } },
        { number: 2, startedAt: at(2), endedAt: at(3), status: 200 },
      ],
    });
    const written = ["run 1 wrote to standard error:", "  Error: no such order", String.raw`      at \u001b[31mpay`];
    expect(text.split("\n\n").at(-1)).toBe(`${written.join("\n")}\n`);
  });

  test("of a synchronous one has neither queue nor retries", () => {
    const { queue: _queue, ...sync } = detail;
    const [facts = ""] = detailText({ ...sync, kind: "sync" }).split("\n\n");
    expect(facts.split("\n").slice(1)).toEqual([
      "kind      synchronous",
      "function  hello.functions",
      "state     done",
    ]);
  });
});

describe("the steps of a timeline", () => {
  const shown = (step: Omit<TimelineStep, "at">): string => {
    const [event] = timelineEvents([{ at: at(0), ...step }]);
    return `${event?.event}: ${event?.detail}`;
  };

  test.each<[Omit<TimelineStep, "at">, string | RegExp]>([
    [{ kind: "accepted" }, "accepted: "],
    [{ kind: "taken", attempt: 2, worker: "node-1:4711" }, "run 2 taken: by node-1:4711"],
    [{ kind: "started", attempt: 2, replica: "hello-0" }, "run 2 started: replica hello-0"],
    [{ kind: "answered", attempt: 2, status: 503, ms: 12 }, "run 2 answered: status 503 after 0.012s"],
    [{ kind: "lost", attempt: 2, reason: "no heartbeat" }, "run 2 lost: no heartbeat"],
    [{ kind: "handedBack", attempt: 1 }, "run 1 handed back: "],
    [
      { kind: "retry", attempt: 1, reason: "answered 503", next: at(5) },
      /^run 1 to be repeated: answered 503, next at \d{4}-/,
    ],
    [{ kind: "callbackTry", attempt: 3, status: 200, ms: 1_500 }, "callback 3: status 200 after 1.500s"],
    [{ kind: "callbackEnded", status: 200 }, "callback ended: status 200"],
    [{ kind: "deadLetter", reason: "exhausted" }, "dead letter: exhausted"],
    [{ kind: "redriven" }, "redriven: "],
    [{ kind: "constructor" as "ended" }, "constructor: "],
  ])("%j", (step, text) => {
    expect(shown(step)).toMatch(typeof text === "string" ? new RegExp(`^${RegExp.escape(text)}$`) : text);
  });
});
