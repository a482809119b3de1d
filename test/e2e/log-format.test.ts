import { afterEach, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { platformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess | undefined;
beforeEach(async () => {
  directory = await tempDirectory("log-format");
});
afterEach(async () => {
  await weir?.close();
  weir = undefined;
  await directory.remove();
});

/** Deploys a function that fails and queues a call of it; resolves with the call id. */
async function failingCall({ url, authorization }: WeirProcess): Promise<string> {
  const calls = platformCalls(url);
  const annotations = { "com.service.retry.attempts": "1", "com.service.retry.min_wait": "10ms" };
  const body = JSON.stringify({ service: "broken", image: "broken:1", envProcess: "false", annotations });
  expect((await calls.send("PUT", "/system/functions", { headers: { authorization }, body })).status).toBe(202);
  const id = await calls.accepted("broken");
  expect(await calls.ended(id, 30_000)).toMatchObject({ state: "failed", reason: "exhausted" });
  return id;
}

test("the log into a pipe is JSON, with deployments and each failed attempt of a queued call", async () => {
  weir = await startWeir({ data: directory.path });
  const id = await failingCall(weir);
  const { output } = weir;
  const entries = (): Record<string, unknown>[] =>
    output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await eventually(() => entries().some(({ msg }) => msg === "queued call failed"), { what: "the last line" });
  expect(entries().find(({ msg }) => msg === "function deployed")).toMatchObject({
    level: 30,
    functionName: "broken",
    namespace: "functions",
    image: "broken:1",
  });
  expect(entries().filter(({ callId, level }) => callId === id && level === 30)).toMatchObject([
    {
      msg: "queued call failed, trying again",
      functionName: "broken.functions",
      status: 500,
      next: expect.any(String),
    },
    { msg: "queued call failed", functionName: "broken.functions", status: 500, reason: "exhausted" },
  ]);
  await weir.stop();
});

test("with --log-format text it is readable lines, without colour outside a terminal", async () => {
  weir = await startWeir({ data: directory.path, flags: ["--log-format", "text"] });
  const id = await failingCall(weir);
  const { output } = weir;
  const clock = String.raw`\d\d:\d\d:\d\d`;
  await eventually(() => output().includes("call was given up"), { what: "the last line" });
  expect(output()).toMatch(
    new RegExp(`^${clock}  function deployed  broken\\.functions  image=broken:1  generation=1$`, "m"),
  );
  expect(output()).toMatch(
    new RegExp(
      `^${clock}  queued call failed, trying again  broken\\.functions  queue=default  callId=${id} .*status=500  .*next=${clock}$`,
      "m",
    ),
  );
  expect(output()).toMatch(
    new RegExp(`^${clock}  WARN  call was given up  broken\\.functions  queue=default  callId=${id} `, "m"),
  );
  expect(output()).not.toContain("\u001B");
  expect(output()).not.toMatch(/^\{/m);
  await weir.stop();
});
