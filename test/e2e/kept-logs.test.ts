import { rm } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HttpKeptLogs } from "../../runtime/adapters/http/history/http-kept-logs.ts";
import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallLogLine } from "../../runtime/api/schemas/history/call-log-line.ts";
import { readKeptLines } from "../../runtime/core/history/logs/read-kept-lines.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;
let kept: HttpKeptLogs;

beforeAll(async () => {
  directory = await tempDirectory("kept-logs");
  kept = new HttpKeptLogs({ address: join(directory.path, "history", "api.sock"), timeout: 10_000 });
  weir = await startWeir({ data: directory.path });
});
afterAll(async () => {
  await kept?.close();
  await weir?.close();
  await directory?.remove();
});

async function send(method: string, path: string, body?: object): Promise<Response> {
  const { url, authorization } = weir;
  return await fetch(`${url}${path}`, {
    method,
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function lines(path: string): Promise<readonly CallLogLine[]> {
  const response = await send("GET", path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} replied ${response.status}: ${text}`);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const textsOf = async (path: string): Promise<string[]> => (await lines(path)).map(({ text }) => text.trimEnd());

const talks = {
  service: "talks",
  image: "none",
  envProcess: `sh -c 'echo "begun $Http_X_Call_Id" >&2; echo plain >&2'`,
};

async function call(name = "talks"): Promise<string> {
  const calls = platformCalls(weir.url);
  const id = await calls.accepted(name);
  await calls.ended(id);
  return id;
}

test("the lines of a call are kept beyond its replica, and go when the call is deleted", async () => {
  expect((await send("PUT", "/system/functions", talks)).status).toBe(202);
  const first = await call();
  const ofFirst = await eventually(
    async () => {
      const found = await lines(`/system/calls/${first}/logs`).catch(() => []);
      return found.length === 2 ? found : undefined;
    },
    { what: "the lines of the call" },
  );
  expect(ofFirst).toMatchObject([
    { name: "talks", namespace: "functions", text: `begun ${first}\n`, stream: "stderr", match: "tagged" },
    { text: "plain\n", match: "tagged", call: first },
  ]);
  const detail = await eventually(
    async () => {
      const { logs } = (await (await send("GET", `/system/calls/${first}`)).json()) as CallDetail;
      return logs.lines === undefined ? undefined : logs;
    },
    { what: "the number of lines" },
  );
  expect(detail).toEqual({ kept: true, lines: 2 });

  await weir.stop();
  await rm(join(directory.path, "logs", "functions", "talks", "ended"), { recursive: true });
  weir = await startWeir({ data: directory.path });
  const second = await call();
  await eventually(async () => (await lines(`/system/calls/${second}/logs`).catch(() => [])).length === 2, {
    what: "the lines of the second call",
  });
  const [begun, plain] = [(id: string) => `begun ${id}`, "plain"];
  expect(await textsOf("/system/logs?name=talks")).toEqual([begun(second), plain]);
  expect(await textsOf("/system/logs?name=talks&history=true")).toEqual([begun(first), plain, begun(second), plain]);
  expect(await textsOf("/system/logs?name=talks&history=true&tail=1")).toEqual([plain, plain]);
  expect(await textsOf(`/system/logs?name=talks&call=${first}`)).toEqual([begun(first), plain]);
  const until = new Date(Date.parse(ofFirst[1]?.timestamp ?? "") + 1).toISOString();
  expect(await textsOf(`/system/logs?name=talks&history=true&until=${until}`)).toEqual([begun(first), plain]);

  expect((await send("DELETE", `/system/calls/${first}`)).status).toBe(202);
  expect(await textsOf("/system/logs?name=talks&history=true")).toEqual([begun(second), plain]);
});

test("FH8 64 MB of one line, binary and without a newline, are cut, and cost no line of another function", async () => {
  const floods = {
    service: "floods",
    image: "none",
    envProcess: `sh -c 'head -c 67000000 /dev/urandom | tr -d "\\n" >&2'`,
  };
  const answers = { service: "answers", image: "none", envProcess: "sh -c 'echo called >&2'" };
  for (const body of [floods, answers]) expect((await send("PUT", "/system/functions", body)).status).toBe(202);
  const flood = call("floods");
  for (let count = 0; count < 3; count += 1) expect((await send("POST", "/function/answers")).status).toBe(200);
  const keptOf = async (name: string): Promise<string[]> => {
    const found = await Array.fromAsync(readKeptLines(kept, { namespace: "functions", name })).catch(() => []);
    return found.map(({ text }) => text.trimEnd());
  };
  await eventually(async () => (await keptOf("answers")).length >= 3, { what: "the lines of the other function" });
  expect(await keptOf("answers")).toEqual(["called", "called", "called"]);
  await flood;
  const cut = await eventually(async () => (await keptOf("floods"))[0], { what: "what is kept of the line" });
  expect(cut).toMatch(/ \[cut: \d+ bytes were not kept\]$/);
  expect(Buffer.byteLength(cut)).toBeLessThan(17_000);
});
