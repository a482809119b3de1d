import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { platformCalls, type PlatformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { EventClient } from "../support/watch/event-client.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What a stream tells of a Weir on one machine, with its history and its logs. */
let directory: TempDirectory;
let weir: WeirProcess;
let calls: PlatformCalls;

beforeAll(async () => {
  directory = await tempDirectory("watch");
  weir = await startWeir({ data: directory.path });
  calls = platformCalls(weir.url, { authorization: weir.authorization });
  const deployment = { service: "loud", image: "none", envProcess: "sh -c 'echo line $(cat) >&2; echo done'" };
  const response = await fetch(`${weir.url}/system/functions?wait=60s`, {
    method: "PUT",
    headers: { authorization: weir.authorization },
    body: JSON.stringify(deployment),
  });
  expect([response.status, await response.text()]).toEqual([202, ""]);
});
afterAll(async () => {
  await weir?.close();
  await directory?.remove();
});

async function watch(on: string): Promise<EventClient> {
  return (await EventClient.open(Number(new URL(weir.url).port), on, { authorization: weir.authorization })).read();
}

test("a queued call is seen in lists, by itself and in the log, from its beginning to its end", async () => {
  using stream = await watch("functions,calls:function=loud,log:functions:loud,doctor,queues");
  await stream.until("calls", ({ begin }) => begin);
  await stream.until("log", ({ begin }) => begin);
  await stream.until("doctor", ({ report }) => report.findings.length > 0);
  const id = await calls.accepted("loud", { body: "of this call" });
  using detail = await watch(`call:${id}`);
  await stream.until("calls", (event) => event.calls.some(({ callId, state }) => callId === id && state === "done"));
  await stream.until("log", ({ records }) => records.some(({ text }) => text.includes("line of this call")));
  const { call } = await detail.until("call", (event) => event.call.state === "done");
  expect(call).toMatchObject({ callId: id, functionName: "loud", attempts: [{ number: 1, status: 200 }] });
  await stream.until("functions", ({ rows }) => rows.some(([key, , , , rate]) => key === "loud.functions" && rate > 0));
});

test("streams end first when Weir stops, and keep it from nothing", async () => {
  using stream = await watch("functions,calls,log:functions:loud");
  await stream.until("calls");
  await weir.stop();
  expect(await stream.until("bye")).toEqual({ reason: "draining" });
  await eventually(() => stream.isOver, { what: "the end" });
});
