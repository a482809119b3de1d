import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  directory = await tempDirectory("failed-runs");
  weir = await startWeir({ data: directory.path });
});
afterAll(async () => {
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

async function json<T>(path: string): Promise<T> {
  return (await (await send("GET", path)).json()) as T;
}

async function lines(path: string): Promise<readonly { readonly text: string; readonly instance: string }[]> {
  const text = await (await send("GET", path)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

const server = `require("node:http").createServer((request, response) => {
  console.log("GET /pay");
  console.error("Error: no such order");
  response.writeHead(500).end();
}).listen(process.env.PORT)`;

test.each([
  ["process", `sh -c 'echo "Error: no such order" >&2; exit 1'`, "tagged"],
  ["http", `node -e '${server.replaceAll("\n", " ")}'`, "window"],
])("in mode %s, a failed run shows what the function wrote to standard error", async (mode, envProcess, match) => {
  const name = `fails-${mode}`;
  const fails = { service: name, image: "none", envProcess, envVars: { mode } };
  expect((await send("PUT", "/system/functions", fails)).status).toBe(202);
  const id = await platformCalls(weir.url).accepted(name);
  const attempt = await eventually(
    async () => {
      const { attempts } = await json<CallDetail>(`/system/calls/${id}`);
      return attempts[0]?.stderrTail === undefined ? undefined : attempts[0];
    },
    { what: "what the first run wrote" },
  );
  expect(attempt).toMatchObject({ number: 1, status: 500, stderrTail: { match } });
  expect(attempt.stderrTail?.lines[0]).toBe("Error: no such order");
  expect(attempt.stderrTail?.lines).not.toContain("GET /pay");
  const [line] = await lines(`/system/calls/${id}/logs`);
  expect(line?.instance).toBe(attempt.replica);
});

test("without kept logs, the last lines of ended replicas are there all the same, and the error is named", async () => {
  await weir.stop();
  weir = await startWeir({ data: directory.path, flags: ["--kept-logs", "false"] });
  const envProcess = `node -e 'throw new Error("DATABASE_URL is not set")'`;
  const broken = { service: "broken", image: "none", envProcess, envVars: { mode: "http" } };
  expect((await send("PUT", "/system/functions", broken)).status).toBe(202);
  const response = await fetch(`${weir.url}/function/broken`);
  const why = "The process ended with code 1; it said: Error: DATABASE_URL is not set";
  const publicly = "its replicas end again and again; its conditions say why";
  expect([response.status, await response.text()]).toEqual([
    503,
    `Cannot wake function "broken.functions": ${publicly}\n`,
  ]);
  const status = await json<FunctionStatus>("/system/function/broken");
  expect(status.conditions.find(({ type }) => type === "Stalled")?.message).toBe(why);
  const hasError = async () =>
    (await lines("/system/logs?name=broken")).some(({ text }) => text === "Error: DATABASE_URL is not set\n");
  await eventually(hasError, { what: "the error in the log" });
  const ended = join(directory.path, "logs", "functions", "broken", "ended");
  await eventually(async () => (await readdir(ended)).length > 0, { what: "the log of the ended replica" });
  expect((await readdir(ended)).length).toBeLessThanOrEqual(5);
});
