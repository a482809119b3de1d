import { rm } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallLogLine } from "../../runtime/api/schemas/history/call-log-line.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;

beforeEach(async () => {
  directory = await tempDirectory("kept-logs");
  weir = await startWeir({ data: directory.path });
});
afterEach(async () => {
  await weir.close();
  await directory.remove();
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

async function call(): Promise<string> {
  const calls = platformCalls(weir.url);
  const id = await calls.accepted("talks");
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
    { name: "talks", namespace: "functions", text: `begun ${first}\n`, match: "text" },
    { text: "plain\n", match: "window" },
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
