import { stat } from "node:fs/promises";
import { dirname } from "node:path";

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

/** Asks each of the places that it gets (`{port}` or `{path}`), as an identity of its choice, and replies with what came of it. */
const inside = `node -e "
  const { request } = require('node:http');
  const ask = (place) => new Promise((resolve) =>
    request({ ...place, host: '127.0.0.1', path: '/from-inside', headers: { 'X-Auth-Subject': 'fed:root' }, timeout: 5000 })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('timeout', () => resolve('timeout'))
      .on('error', (err) => resolve(err.code))
      .end());
  require('node:stream/consumers').json(process.stdin).then((places) => Promise.all(places.map(ask)))
    .then((all) => console.log(JSON.stringify(all)));
"`;

beforeAll(async () => {
  data = await tempDirectory("function-walls");
  weir = await startWeir({ data: data.path, flags: ["--shutdown-delay", "0s"] });
  await deploy({ service: "echo", envProcess: "cat" });
  await deploy({ service: "inside", envProcess: inside });
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

async function askFromInside(places: readonly object[]): Promise<readonly unknown[]> {
  const response = await fetch(`${weir.url}/function/inside`, { method: "POST", body: JSON.stringify(places) });
  return (await response.json()) as unknown[];
}

/** Paths of the sockets on which watchdogs listen. */
function socketsOfWatchdogs(): readonly string[] {
  return weir.below().flatMap(({ command }) => /--listen-socket (\S+)/.exec(command)?.[1] ?? []);
}

test("watchdogs listen on sockets that no function can reach", async () => {
  const paths = socketsOfWatchdogs();
  expect(paths).toHaveLength(3);
  for (const path of paths) expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  const outcomes = await askFromInside([
    ...paths.map((socketPath) => ({ socketPath })),
    { port: new URL(weir.url).port },
  ]);
  // Functions of a Weir that is not root have its user.
  const refused = process.getuid?.() === 0 ? "EACCES" : 200;
  expect(outcomes.slice(0, -1)).toEqual(paths.map(() => refused));
  // Nothing keeps it from the gateway.
  expect(outcomes.at(-1)).toBe(404);
});

test("a callback leads to nothing that a process of the platform listens on, in whatever way it is written", async () => {
  const addresses = await listened();
  // Broker and its monitoring, admin, and the process of the function in mode http.
  expect(addresses).toHaveLength(4);
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
  const [address] = (await listened()).filter((each) => /^127\.0\.0\.1:(?:2\d|3[01])\d{3}$/.test(each));
  if (address === undefined) throw new Error("no process of mode http listens");
  const response = await queue(`http://localhost:${address.slice(address.lastIndexOf(":") + 1)}/by-name`);
  expect(response.status).toBe(202);
  const id = response.headers.get("x-call-id") ?? "";
  await eventually(
    async () => {
      const { callback } = (await (await send("GET", `/async-function/${id}`)).json()) as CallRecord;
      return callback?.state === "failed";
    },
    { what: "the callback to fail" },
  );
  expect(await (await send("GET", "/system/logs?name=server")).text()).not.toContain("/by-name");
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
