import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionRow } from "../../runtime/api/schemas/watch/function-row.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { EventClient } from "../support/watch/event-client.ts";

/** The stream of real gateways with a broker and a queue-worker. */
let platform: Platform;
let echo: FunctionServer;
const release: (() => void)[] = [];

beforeAll(async () => {
  platform = await openPlatform({ gateways: 2 });
  echo = await openFunctionServer((request, response) => {
    if (request.url === "/wait") release.push(() => response.end());
    else response.writeHead(request.url === "/fail" ? 500 : 200).end("ok");
  });
  await platform.deploy("echo", { addresses: [echo.address] });
});
afterAll(async () => {
  for (const end of release) end();
  await platform?.close();
  await echo?.close();
});

const portOf = (index: number): number => Number(platform.gateways[index]?.ready["port"]);

async function watch(on: string, index = 0): Promise<EventClient> {
  return (await EventClient.open(portOf(index), on, { authorization: platform.authorization })).read();
}

/** Calls the function, until told to stop, one call after the other. */
function callSteadily(port: number, path: string): () => Promise<void> {
  let isOver = false;
  const calling = (async () => {
    while (!isOver) await (await fetch(`http://127.0.0.1:${port}/function/echo${path}`)).arrayBuffer();
  })();
  return async () => {
    isOver = true;
    await calling;
  };
}

/** The last row of the function that a stream told. */
function rowOf(stream: EventClient): FunctionRow | undefined {
  return stream
    .of("functions")
    .flatMap(({ rows }) => rows)
    .findLast(([key]) => key === "echo.functions");
}

test("rows show calls of every gateway and of queue-workers, and their end", async () => {
  using one = await watch("functions", 0);
  using two = await watch("functions:functions", 1);
  await Promise.all([one.until("functions"), two.until("functions")]);
  expect(rowOf(one)).toEqual(["echo.functions", 1, 1, "ready", 0, 0, 0, expect.any(Number)]);
  const stops = [callSteadily(portOf(0), ""), callSteadily(portOf(1), "/fail")];
  const queued = await platform.calls.accepted("echo", { tail: "/wait" });
  await platform.calls.until(queued, ["running"]);
  for (const stream of [one, two]) {
    await eventually(
      () => {
        const [, , , , calls = 0, errors = 0, inFlight = 0] = rowOf(stream) ?? [];
        return calls > errors && errors > 0 && inFlight > 0;
      },
      { what: "calls and errors of both gateways, and the queued one" },
    );
  }
  await Promise.all(stops.map((stop) => stop()));
  for (const end of release.splice(0)) end();
  for (const stream of [one, two]) {
    await eventually(
      () => {
        const [, , , , calls, errors, inFlight] = rowOf(stream) ?? [];
        return calls === 0 && errors === 0 && inFlight === 0;
      },
      { what: "their end" },
    );
  }
});

test("a change is told: of functions, of one of them, and of queues", async () => {
  using stream = await watch("functions,function:functions:late,queues,calls");
  await Promise.all([stream.until("functions"), stream.until("queues")]);
  expect(await stream.until("function")).toMatchObject({ status: null });
  // This platform has no history.
  expect(await stream.until("fault")).toMatchObject({ on: "calls", code: "history_off" });
  await platform.deploy("late", { addresses: [echo.address] });
  await stream.until("functions", ({ rows }) => rows.some(([key, , ready]) => key === "late.functions" && ready === 1));
  await stream.until("function", ({ status }) => status?.availableReplicas === 1);
  const id = await platform.calls.accepted("late", { tail: "/wait" });
  await stream.until("queues", ({ queues }) => queues.some(({ running, queued }) => running + queued > 0));
  await eventually(() => release.length > 0, { what: "the call to run" });
  for (const end of release.splice(0)) end();
  await platform.calls.ended(id);
  await platform.undeploy("late");
  await stream.until("functions", ({ removed }) => removed.includes("late.functions"));
});

test("a gateway that stops says so first, and waits for no stream", async () => {
  const [, second] = platform.gateways;
  if (second === undefined) throw new Error("there are two gateways");
  using stream = await watch("functions,queues", 1);
  await stream.until("queues");
  await second.stop();
  expect(await stream.until("bye")).toEqual({ reason: "draining" });
  await eventually(() => stream.isOver, { what: "the end" });
});
