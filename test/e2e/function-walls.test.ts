import { afterAll, beforeAll, expect, test } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { addressesListenedOn } from "../../runtime/watchdog/listening-process.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What the platform listens on, seen from a caller that may call one function and from inside that function. */
let data: TempDirectory;
let weir: WeirProcess;

/** Replies with the headers that it received, and tells its log of each request. */
const server = `node -e "require('node:http').createServer((q, r) => { console.log('served ' + q.url); r.end(JSON.stringify(q.headers)); }).listen(process.env.PORT, '127.0.0.1')"`;

beforeAll(async () => {
  data = await tempDirectory("function-walls");
  weir = await startWeir({ data: data.path, flags: ["--shutdown-delay", "0s"] });
  await deploy({ service: "echo", envProcess: "cat" });
  await deploy({ service: "server", envProcess: server, envVars: { mode: "http" } });
});
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

async function send(method: string, path: string, body?: object): Promise<Response> {
  return fetch(weir.url + path, {
    method,
    headers: { authorization: weir.authorization, accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function deploy(body: object): Promise<void> {
  expect((await send("PUT", "/system/functions?wait=30s", { image: "none", ...body })).status).toBeLessThan(300);
}

/** `host:port` of everything that a process of this Weir listens on, but for the gateway. */
async function listened(): Promise<readonly string[]> {
  const all = await addressesListenedOn(weir.pid);
  return all.filter((address) => !weir.url.endsWith(address));
}

function queue(callback: string): Promise<Response> {
  return fetch(`${weir.url}/async-function/echo`, { method: "POST", headers: { "X-Callback-Url": callback } });
}

test("a callback leads to nothing that a process of the platform listens on, in whatever way it is written", async () => {
  const addresses = await listened();
  // Broker and its monitoring, admin, and the process of the function in mode http.
  expect(addresses.length).toBeGreaterThanOrEqual(4);
  for (const address of addresses) {
    const port = address.slice(address.lastIndexOf(":") + 1);
    for (const host of [
      "127.0.0.1",
      "127.0.0.2",
      "2130706433",
      "0x7f000001",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "0",
      "[::]",
    ]) {
      const response = await queue(`http://${host}:${port}/`);
      expect([host, port, response.status]).toEqual([host, port, 400]);
      expect(await response.text()).toMatch(/^Cannot call back at ".+": .+/);
    }
  }
});

test("a name that resolves there is refused when the callback is sent", async () => {
  const [address = ""] = (await listened()).filter((each) => each.startsWith("127.0.0.1:2"));
  const response = await queue(`http://localhost:${address.slice(address.lastIndexOf(":") + 1)}/by-name`);
  expect(response.status).toBe(202);
  const id = response.headers.get("x-call-id") ?? "";
  const callback = await eventually(
    async () => {
      const { callback: seen } = (await (await send("GET", `/async-function/${id}`)).json()) as CallRecord;
      return seen?.state === "failed" ? seen : undefined;
    },
    { what: "the callback to fail" },
  );
  expect(callback.error).toMatch(/^a function listens there|^port \d+ belongs to the platform/);
});

test("a callback to a function goes by the gateway", async () => {
  const response = await queue(`${weir.url}/function/server/called-back`);
  expect(response.status).toBe(202);
  await eventually(
    async () => (await (await send("GET", "/system/logs?name=server")).text()).includes("/called-back"),
    {
      what: "the callback to arrive",
    },
  );
});
