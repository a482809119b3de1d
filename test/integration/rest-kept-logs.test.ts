import { beforeEach, describe, expect, test } from "vitest";

import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import { formatLogMoment } from "../../runtime/core/history/logs/log-moment.ts";
import type { HistoryParts } from "../../runtime/gateway/rest/app-parts.ts";
import { awayHistory, HistoryGateway, historyAway, numberedId } from "../support/history-gateway.ts";
import { MemoryCallHistory } from "../support/memory/memory-call-history.ts";

/** The routes of kept log lines, with lines, records and history in memory. */
let opened: HistoryGateway;
const id = numberedId(1);

/** For the tests of a `describe`. */
async function open(): Promise<() => Promise<void>> {
  opened = await HistoryGateway.open();
  await opened.platform.call("PUT", "/system/functions", { service: "hello", image: "a" });
  return async () => opened[Symbol.asyncDispose]();
}

/** A line of a time, milliseconds after call 0. */
function record(instance: string, at: number, text = `${instance}${at}`): LogRecord {
  const timestamp = formatLogMoment({ at: opened.start + at, nanos: 0 });
  return { name: "hello", namespace: "functions", instance, timestamp, text: `${text}\n` };
}

const keep = (...records: readonly LogRecord[]) => opened.lines.append(records.map((one) => ({ ...one, number: 0 })));

/** Call 1, which ran in the second after its acceptance, a minute after call 0. */
async function ranCall(): Promise<void> {
  const begin = opened.start + 60_000;
  await opened.write(1, { attempts: [{ number: 1, startedAt: begin + 100, endedAt: begin + 900, status: 200 }] });
}

async function lines(path: string, authorization?: string): Promise<readonly Record<string, unknown>[]> {
  const [status, text] = await opened.send("GET", path, authorization);
  if (status !== 200) throw new Error(`${path} replied ${status}: ${text}`);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const textsOf = async (path: string) => (await lines(path)).map(({ text }) => String(text).trimEnd());

describe("the log of a call", () => {
  beforeEach(open);

  test("has the lines that name it and those of its runs, and is counted", async () => {
    await ranCall();
    await keep(record("a", 60_050), record("a", 60_200), record("a", 61_500, `late ${id}`));
    expect(await lines(`/system/calls/${id.toUpperCase()}/logs`)).toEqual([
      { ...record("a", 60_200), match: "window" },
      { ...record("a", 61_500, `late ${id}`), match: "text" },
    ]);
    expect((await opened.json<CallDetail>(`/system/calls/${id}`)).logs).toEqual({ kept: true, lines: 2 });
  });

  test("shows the end of what failed runs wrote to standard error, to who may read it", async () => {
    const begin = opened.start + 60_000;
    await opened.write(1, {
      run: 2,
      attempts: [
        { number: 1, startedAt: begin + 100, endedAt: begin + 200, status: 500, replica: "a" },
        { number: 2, startedAt: begin + 5_000, endedAt: begin + 5_900, status: 200, replica: "a" },
      ],
    });
    await keep(
      { ...record("a", 60_150, "GET /pay"), stream: "stdout" },
      { ...record("a", 60_180, "Error: no such order"), stream: "stderr" },
      { ...record("b", 60_180, "of another"), stream: "stderr" },
      { ...record("a", 65_500, "slow"), stream: "stderr" },
    );
    const detail = await opened.json<CallDetail>(`/system/calls/${id}`);
    expect(detail.attempts).toEqual([
      expect.objectContaining({
        number: 1,
        replica: "a",
        stderrTail: { lines: ["Error: no such order"], match: "window" },
      }),
      expect.not.objectContaining({ stderrTail: expect.anything() }),
    ]);
    opened.tokens.allow({ gets: [["Call:Get"], ["functions:*"]] });
    const [status, text] = await opened.send("GET", `/system/calls/${id}`, opened.tokens.give("gets"));
    const seen: CallDetail = JSON.parse(text);
    expect([status, seen.attempts.map(({ replica }) => replica)]).toEqual([200, ["a", "a"]]);
    expect(text).not.toContain("stderrTail");
  });

  test("is removed with it, and nothing else", async () => {
    await ranCall();
    await keep(record("a", 60_050), record("a", 60_200));
    expect((await opened.send("DELETE", `/system/calls/${id}`))[0]).toBe(202);
    const left = await opened.lines.lines({ namespace: "functions", name: "hello", limit: 10 });
    expect(left.lines.map(({ text }) => text)).toEqual(["a60050\n"]);
  });

  test("needs Function:Logs; of a call that cannot be seen either it is 404", async () => {
    await ranCall();
    await keep(record("a", 60_200));
    opened.tokens.allow({
      reads: [["Function:Logs"], ["functions:hello"]],
      sees: [["Call:Get", "Function:Logs"], ["functions:other"]],
      gets: [["Call:Get"], ["functions:*"]],
    });
    const path = `/system/calls/${id}/logs`;
    expect(await lines(path, opened.tokens.give("reads"))).toHaveLength(1);
    expect(await opened.send("GET", path, opened.tokens.give("sees"))).toEqual([
      404,
      expect.stringContaining(`Cannot read the logs of call "${id}": it is unknown or expired`),
    ]);
    expect((await opened.send("GET", path, opened.tokens.give("gets")))[0]).toBe(403);
  });
});

describe("the log of a function", () => {
  beforeEach(open);

  beforeEach(async () => {
    await keep(record("a", 1), record("a", 2), record("b", 2));
    for (const one of [record("b", 2), record("b", 3)]) opened.platform.logs.add(one);
  });

  test("with history begins with kept lines; without it is as before", async () => {
    expect(await textsOf("/system/logs?name=hello&history=true")).toEqual(["a1", "a2", "b2", "b3"]);
    expect(await textsOf("/system/logs?name=hello")).toEqual(["b2", "b3"]);
    expect(await textsOf("/system/logs?name=hello&history=false")).toEqual(["b2", "b3"]);
  });

  test("ends at a time, with history and without", async () => {
    const until = new Date(opened.start + 3).toISOString();
    expect(await textsOf(`/system/logs?name=hello&history=true&until=${until}`)).toEqual(["a1", "a2", "b2"]);
    expect(await textsOf(`/system/logs?name=hello&until=${until}`)).toEqual(["b2"]);
  });

  test("of one call has its lines alone", async () => {
    await ranCall();
    await keep(record("c", 60_200), record("c", 60_300), record("c", 62_000));
    expect(await textsOf(`/system/logs?name=hello&call=${id}`)).toEqual(["c60200", "c60300"]);
    expect(await textsOf(`/system/logs?name=hello&call=${id}&tail=1`)).toEqual(["c60300"]);
    expect(await textsOf(`/system/logs?name=hello&call=${id}&instance=a`)).toEqual([]);
    const since = new Date(opened.start + 60_250).toISOString();
    expect(await textsOf(`/system/logs?name=hello&call=${id}&since=${since}`)).toEqual(["c60300"]);
  });

  test("of a call of another function is 404", async () => {
    await opened.write(2, { function: "other" });
    for (const call of [numberedId(2), numberedId(3)])
      expect(await opened.platform.refusal("GET", `/system/logs?name=hello&call=${call}`)).toMatchObject({
        status: 404,
        code: "call_not_found",
      });
  });

  test("that cannot be read as it is asked for is refused", async () => {
    const refused = [
      ["call=7f3c", 'Cannot read call "7f3c": expected the id of a call, a UUID'],
      ["until=tomorrow", 'Cannot read until "tomorrow": expected a time such as 2026-01-31T12:00:00Z'],
      [`call=${id}&follow=true`, "Cannot follow a log with call: leave out follow or call"],
      ["until=2026-01-31T12:00:00Z&follow=1", "Cannot follow a log with until: leave out follow or until"],
    ] as const;
    for (const [query, detail] of refused)
      expect(await opened.platform.refusal("GET", `/system/logs?name=hello&${query}`)).toEqual({
        status: 422,
        code: "log_query_invalid",
        detail,
      });
  });
});

const paths = [
  `/system/calls/${id}/logs`,
  "/system/logs?name=hello&history=true",
  `/system/logs?name=hello&call=${id}`,
];

async function openWith(history: HistoryParts): Promise<HistoryGateway> {
  const other = await HistoryGateway.open({ history });
  await other.platform.call("PUT", "/system/functions", { service: "hello", image: "a" });
  await other.writeUnseen(1, { attempts: [{ number: 1, startedAt: other.start, endedAt: other.start + 1 }] });
  return other;
}

test("where no lines are kept, they are refused with a sentence, and the rest of a call is shown", async () => {
  const reads = new MemoryCallHistory();
  const progress = async () => ({ lagSeconds: 0.2, complete: true, gaps: [] });
  await using off = await openWith({ reads, progress, remove: async () => true });
  for (const path of paths)
    expect(await off.platform.refusal("GET", path)).toMatchObject({
      status: 404,
      code: "history_off",
      detail: expect.stringMatching(/^Cannot read .*: no lines are kept; the setting kept_logs turns that on$/),
    });
  expect((await off.json<CallDetail>(`/system/calls/${id}`)).logs).toEqual({ kept: false });
});

test("while the history is away, lines are 503, and the rest of a call is shown", async () => {
  const reject = () => Promise.reject(historyAway);
  const logs = { reads: { lines: reject, lineReplicas: reject }, remove: reject };
  await using away = await openWith({ ...awayHistory, logs });
  for (const path of paths)
    expect(await away.platform.refusal("GET", path)).toMatchObject({ status: 503, code: "history_unavailable" });
  expect((await away.json<CallDetail>(`/system/calls/${id}`)).logs).toEqual({ kept: true });
});
