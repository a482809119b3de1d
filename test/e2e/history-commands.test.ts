import { execFile, type ExecFileException } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls, type PlatformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

let directory: TempDirectory;
let weir: WeirProcess | undefined;
let history: HttpCallHistory;

beforeEach(async () => {
  directory = await tempDirectory("history");
  history = new HttpCallHistory({ address: join(directory.path, "history", "api.sock"), timeout: 10_000 });
});
afterEach(async () => {
  await history.close();
  await weir?.close();
  weir = undefined;
  await directory.remove();
});

/** Runs a command of docs/history.md to its end. */
async function run(...flags: readonly string[]) {
  const args = [
    join(repository, "runtime/history/main.ts"),
    `--history-dir=${join(directory.path, "history")}`,
    ...flags,
  ];
  return new Promise<{ readonly code: ExecFileException["code"]; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      const { PATH, NODE_COMPILE_CACHE } = environment();
      execFile(process.execPath, args, { env: { PATH, NODE_COMPILE_CACHE } }, (err, stdout, stderr) =>
        resolve({ code: err === null ? 0 : err.code, stdout, stderr }),
      );
    },
  );
}

async function deploy({ url, authorization }: WeirProcess, names: readonly string[]): Promise<PlatformCalls> {
  const calls = platformCalls(url);
  const annotations = { "com.service.history.bodies": "1h" };
  for (const service of names) {
    const body = JSON.stringify({ service, image: "none", envProcess: "cat", annotations });
    const { status } = await calls.send("PUT", "/system/functions", { headers: { authorization }, body });
    expect(status).toBe(202);
  }
  return calls;
}

async function ended(calls: PlatformCalls, name: string): Promise<string> {
  const id = await calls.accepted(name);
  await calls.ended(id);
  await eventually(async () => (await history.get(id))?.row.state === "done", { what: `call ${id} in the history` });
  return id;
}

test("--rebuild is done by the history that runs, which has all its calls afterwards", async () => {
  weir = await startWeir({ data: directory.path, flags: ["--log-level=info"] });
  const calls = await deploy(weir, ["one"]);
  const id = await ended(calls, "one");
  expect(await run("--rebuild")).toEqual({
    code: 0,
    stdout: "The history is filled anew. What was there before answers until it is level\n",
    stderr: "",
  });
  await eventually(() => weir?.output().includes("the history was filled anew"), { what: "the new file" });
  await eventually(async () => (await history.progress()).complete, { what: "the history to be complete" });
  expect((await history.get(id))?.row).toMatchObject({ name: "one", state: "done" });
  expect((await history.progress()).gaps).toEqual([]);
});

test("--erase removes what is kept of one function, of a history that runs, and of one that does not", async () => {
  const first = (weir = await startWeir({ data: directory.path }));
  const calls = await deploy(first, ["one", "two"]);
  const [one, two] = [await ended(calls, "one"), await ended(calls, "two")];
  const request = async (id: string): Promise<number> =>
    (await calls.send("GET", `/system/calls/${id}/request`, { headers: { authorization: first.authorization } }))
      .status;
  await eventually(async () => (await request(one)) === 200, { what: "the kept request" });
  expect(await run("--erase=one")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("function=NAME") as string,
  });
  const { code, stdout } = await run("--erase=function=one");
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Removed of function "one\.functions": 1 call, \d+ log lines? and 1 kept request\n$/),
  ]);
  expect(await history.get(one)).toBeUndefined();
  expect((await history.get(two))?.row.name).toBe("two");
  await weir.stop();

  // Without the broker kept requests cannot be removed.
  const away = await run("--erase=function=two", "--nats-url=nats://127.0.0.1:9", "--log-level=error");
  expect([away.code, away.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^Removed of function "two\.functions": 1 call and \d+ log lines?\nKept requests stay: the broker could not be asked; /,
    ),
  ]);
  weir = await startWeir({ data: directory.path });
  await eventually(() => history.progress(), { what: "the history to serve" });
  expect(await history.get(two)).toBeUndefined();
});
