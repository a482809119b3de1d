import { stat, writeFile } from "node:fs/promises";
import { request as send } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import {
  historyAuthorization,
  historyPath,
  historyRequestMax,
} from "../../runtime/api/schemas/history/history-wire.ts";
import type { CallHistory, CallListQuery, RollupQuery } from "../../runtime/core/ports/call-history.ts";
import { openHistoryApi, type HistoryApi, type HistoryApiPlace } from "../../runtime/history/api/open-history-api.ts";
import { askRunning } from "../../runtime/history/commands/ask-running.ts";
import { buildHistoryMetrics } from "../../runtime/history/history-metrics.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const id = "11111111-1111-4111-8111-111111111111";
const query: CallListQuery = { filter: { namespace: "functions", states: ["failed"] }, limit: 50 };
const rollupQuery: RollupQuery = { functions: [], step: "1m", since: 0, until: 60_000 };
const page = { rows: [], total: { value: 3, exact: true } };
const progress = { lagSeconds: 1.5, complete: false, gaps: [{ from: 1, to: 2 }] };

let directory: TempDirectory;
let api: HistoryApi | undefined;
let registry: Registry;
let asked: unknown[];
let waiting: (() => void)[];
let failure: Error | undefined;

/** Notes what it is asked; `replaysOf` waits until a test lets it go. */
const reads: CallHistory = {
  list: async (argument) => {
    asked.push(["list", argument]);
    if (failure !== undefined) throw failure;
    return page;
  },
  get: async (argument) => void asked.push(["get", argument]),
  replaysOf: (argument) =>
    new Promise((resolve) => {
      asked.push(["replays", argument]);
      waiting.push(() => resolve([argument]));
    }),
  functions: async () => [{ namespace: "functions", name: "pay" }],
  gaps: async () => progress.gaps,
  rollups: async (argument) => {
    asked.push(["rollups", argument]);
    return [];
  },
};

async function open(place?: HistoryApiPlace): Promise<HistoryApi> {
  registry.clear();
  api = await openHistoryApi({
    reads,
    remove: async (argument) => asked.push(["remove", argument]) > 0,
    erase: async (argument) => ({ calls: asked.push(["erase", argument]) }),
    requestRebuild: async () => void asked.push(["rebuild"]),
    progress: async () => progress,
    metrics: buildHistoryMetrics(registry),
    headersTimeout: 10_000,
    place: place ?? { directory: join(directory.path, "history") },
  });
  return api;
}

interface Sent {
  readonly status: number;
  readonly body: string;
}

function exchange(
  path: string,
  over: { readonly method?: string; readonly body?: string; readonly authorization?: string } = {},
): Promise<Sent> {
  const { method = "POST", body = "null", authorization } = over;
  const address = api?.address ?? 0;
  return new Promise((resolve, reject) => {
    const request = send(
      {
        ...(typeof address === "string" ? { socketPath: address } : { host: "127.0.0.1", port: address }),
        path,
        method,
        headers: {
          "content-length": Buffer.byteLength(body),
          ...(authorization === undefined ? {} : { authorization }),
        },
      },
      (response) => {
        void text(response).then((reply) => resolve({ status: response.statusCode ?? 0, body: reply }), reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

beforeEach(async () => {
  directory = await tempDirectory("history-api");
  registry = new Registry();
  asked = [];
  waiting = [];
  failure = undefined;
});
afterEach(async () => {
  for (const go of waiting) go();
  await api?.close();
  api = undefined;
  await directory.remove();
});

describe("the history's API on one machine", () => {
  test("is what the gateway's side of it asks", async () => {
    const { address } = await open();
    const history = new HttpCallHistory({ address: String(address) });
    expect(await history.list(query)).toEqual(page);
    expect(await history.get(id)).toBeUndefined();
    expect(await history.functions()).toEqual([{ namespace: "functions", name: "pay" }]);
    expect(await history.gaps()).toEqual(progress.gaps);
    expect(await history.rollups(rollupQuery)).toEqual([]);
    expect(await history.remove(id)).toBe(true);
    expect(await history.progress()).toEqual(progress);
    const replays = history.replaysOf(id);
    await eventually(() => waiting.length === 1, { what: "the request" });
    waiting[0]?.();
    expect(await replays).toEqual([id]);
    expect(asked).toEqual([
      ["list", query],
      ["get", id],
      ["rollups", rollupQuery],
      ["remove", id],
      ["replays", id],
    ]);
    expect(await registry.metrics()).toContain('history_read_seconds_count{route="list"} 1');
    await history.close();
  });

  test("is a socket for its user alone, which is gone with it, and which a killed process may have left", async () => {
    const { address } = await open();
    const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect([await mode(String(address)), await mode(join(directory.path, "history"))]).toEqual(["600", "700"]);
    await api?.close();
    await expect(stat(String(address))).rejects.toThrow("ENOENT");
    await writeFile(String(address), "");
    await open();
    expect((await exchange(historyPath("gaps"))).status).toBe(200);
  });

  test("tells its metrics", async () => {
    await open();
    const { status, body } = await exchange("/v1/metrics", { method: "GET" });
    expect(status).toBe(200);
    expect(body).toContain("history_lag_seconds");
  });

  test.each([
    ["a path that it does not have", "/v1/other", "null", 404],
    ["no JSON", historyPath("list"), "{", 400],
    ["no query", historyPath("list"), "null", 400],
    ["a query without a limit", historyPath("list"), '{"filter":{}}', 400],
    ["no call id", historyPath("get"), "7", 400],
    ["rollups without a step", historyPath("rollups"), '{"functions":[],"since":0,"until":1}', 400],
    ["too much", historyPath("list"), " ".repeat(historyRequestMax + 1), 413],
  ])("refuses %s", async (_what, path, body, status) => {
    await open();
    const reply = await exchange(path, { body });
    expect(reply.status).toBe(status);
    expect(reply.body.length).toBeGreaterThan(10);
    expect(asked).toEqual([]);
    expect((await exchange(historyPath("gaps"))).status).toBe(200);
  });

  test("refuses a request by another method", async () => {
    await open();
    expect((await exchange(historyPath("gaps"), { method: "GET" })).status).toBe(404);
    expect((await exchange("/v1/progress")).status).toBe(404);
  });

  test("says why it cannot read", async () => {
    await open();
    failure = new Error("the read took more than a second");
    const reply = await exchange(historyPath("list"), { body: JSON.stringify(query) });
    expect(reply).toEqual({ status: 503, body: "the read took more than a second" });
  });

  test("refuses the 65th request at a time, and goes on", async () => {
    await open();
    const all = Array.from({ length: 64 }, () => exchange(historyPath("replays"), { body: JSON.stringify(id) }));
    await eventually(() => waiting.length === 64, { what: "64 requests" });
    expect((await exchange(historyPath("gaps"))).status).toBe(503);
    for (const go of waiting.splice(0)) go();
    expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
    expect((await exchange(historyPath("gaps"))).status).toBe(200);
  });

  test("a directory that cannot be made is a sentence", async () => {
    await writeFile(join(directory.path, "file"), "");
    await expect(open({ directory: join(directory.path, "file", "history") })).rejects.toThrow(/ENOTDIR|ENOENT/);
  });
});

describe("the history's API on a cluster", () => {
  const key = "kept-in-a-secret";

  async function openPort(): Promise<HistoryApi> {
    await writeFile(join(directory.path, "history-key"), `${key}\n`);
    return open({ host: "127.0.0.1", port: await freePort(), keyDirectory: directory.path });
  }

  test("wants the key with each request", async () => {
    const { address } = await openPort();
    const keyFile = join(directory.path, "history-key");
    const history = new HttpCallHistory({ address: `http://127.0.0.1:${address}`, keyFile });
    expect(await history.gaps()).toEqual(progress.gaps);
    await history.close();
    const path = historyPath("gaps");
    for (const authorization of [undefined, "", key, historyAuthorization("other"), historyAuthorization(`${key}x`)])
      expect((await exchange(path, authorization === undefined ? {} : { authorization })).status).toBe(401);
    expect((await exchange("/v1/progress", { method: "GET" })).status).toBe(401);
    expect((await exchange(path, { authorization: historyAuthorization(key) })).status).toBe(200);
  });

  test("takes a key that was replaced, and none while there is none", async () => {
    await openPort();
    await writeFile(join(directory.path, "history-key"), "another");
    expect((await exchange(historyPath("gaps"), { authorization: historyAuthorization(key) })).status).toBe(401);
    expect((await exchange(historyPath("gaps"), { authorization: historyAuthorization("another") })).status).toBe(200);
    await writeFile(join(directory.path, "history-key"), "");
    expect((await exchange(historyPath("gaps"), { authorization: historyAuthorization("") })).status).toBe(503);
  });

  test("does not open without a key", async () => {
    const place = { host: "127.0.0.1", port: await freePort(), keyDirectory: directory.path };
    await expect(open(place)).rejects.toThrow(/Cannot serve the history: key file ".*history-key" is missing or empty/);
  });
});

describe("a command of the history", () => {
  test("is answered by the process that runs, at its socket or at its port", async () => {
    const place = { directory: join(directory.path, "history") };
    await open(place);
    expect(await askRunning(place, "erase", { namespace: "shop", name: "pay" })).toEqual({ result: { calls: 1 } });
    expect(await askRunning(place, "rebuild")).toEqual({ result: undefined });
    expect(asked).toEqual([["erase", { namespace: "shop", name: "pay" }], ["rebuild"]]);
    await expect(askRunning(place, "erase", "pay")).rejects.toThrow(
      "the argument is not an object with namespace, name",
    );

    await api?.close();
    await writeFile(join(directory.path, "history-key"), "secret");
    const port = { host: "0.0.0.0", port: await freePort(), keyDirectory: directory.path };
    await open(port);
    expect(await askRunning(port, "rebuild")).toEqual({ result: undefined });
  });

  test("finds no process where none listens", async () => {
    expect(await askRunning({ directory: join(directory.path, "none") }, "rebuild")).toBeUndefined();
    await writeFile(join(directory.path, "history-key"), "secret");
    const port = { host: "127.0.0.1", port: await freePort(), keyDirectory: directory.path };
    expect(await askRunning(port, "rebuild")).toBeUndefined();
  });
});
