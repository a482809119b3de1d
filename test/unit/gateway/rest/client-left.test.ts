import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import type { FunctionView } from "../../../../runtime/core/replicas/rollout.ts";
import { DeploymentWaits } from "../../../../runtime/gateway/rest/deployment-waits.ts";
import { LogStreams } from "../../../../runtime/gateway/rest/log-streams.ts";
import { createLog } from "../../../../runtime/process/log.ts";

/** The response to a client that closed its connection at once. */
async function responseOfGoneClient(): Promise<ServerResponse> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  client.destroy();
  await once(response, "close");
  server.close();
  return response;
}

test("a log stream for a client that left before it began reads nothing and counts towards no limit", async () => {
  const streams = new LogStreams({ heartbeat: 10, checkEvery: 10 });
  const response = await responseOfGoneClient();
  let reads = 0;
  // One more than the limit of streams.
  for (let index = 0; index <= 200; index += 1)
    await streams.begin().send(
      response,
      {},
      async function* (signal) {
        reads += 1;
        await once(signal, "abort");
        yield* [];
      },
      async () => true,
    );
  expect(reads).toBe(0);
});

test("a deployment is not waited for if its client left before", async () => {
  const wanted = desireFunction(undefined, "functions", { service: "a", image: "none" }, new Date(0).toISOString());
  const view: FunctionView = {
    wanted: () => wanted,
    endpoints: () => undefined,
    watch: () => {
      throw new Error("it is waited for");
    },
  };
  const waits = new DeploymentWaits({ view, logs: undefined, log: createLog("test", "error") });
  await waits.ready(wanted, 300_000, await responseOfGoneClient());
});
