import { once } from "node:events";
import { connect } from "node:net";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { LogRecord } from "../../runtime/api/schemas/log-record.ts";
import { eventually } from "../support/eventually.ts";
import { openRawClient } from "../support/raw-client.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let platform: RestPlatform;
beforeEach(async () => {
  platform = await openRestPlatform({ logHeartbeatPeriod: 60 });
  await platform.call("PUT", "/system/functions", { service: "hello", image: "a" });
});
afterEach(async () => {
  await platform[Symbol.asyncDispose]();
});

const record = (text: string): LogRecord => ({
  name: "hello",
  namespace: "functions",
  instance: "hello-1",
  timestamp: "2026-01-01T00:00:00.000000001Z",
  text: `${text}\n`,
});

/** The text of a streamed reply as it grows. */
function collect(response: Response): { readonly text: () => string; readonly ended: Promise<string> } {
  let text = "";
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    return text;
  })();
  ended.catch(() => {});
  return { text: () => text, ended };
}

test("a backlog is one record per line and ends", async () => {
  platform.logs.add(record("one"));
  platform.logs.add(record("two"));
  const response = await platform.call(
    "GET",
    "/system/logs?name=hello&tail=20&since=2026-01-01T00:00:00&follow=maybe&instance=hello-1",
  );
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const lines = (await response.text()).split("\n");
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([record("one"), record("two")]);
  expect(platform.logs.queries).toEqual([
    {
      namespace: "functions",
      name: "hello",
      instance: "hello-1",
      tail: 20,
      since: Date.UTC(2026, 0, 1),
      follow: false,
    },
  ]);
});

test("follow sends each record at once, and empty lines when idle, until the client leaves", async () => {
  const leaving = new AbortController();
  const response = await fetch(`${platform.url}/system/logs?name=hello&follow=1`, {
    headers: { authorization: platform.authorization },
    signal: leaving.signal,
  });
  const stream = collect(response);
  await eventually(() => stream.text().startsWith("\n"), { what: "a heartbeat" });
  platform.logs.add(record("late"));
  await eventually(() => stream.text().includes("late"), { what: "the record" });
  leaving.abort();
  await eventually(() => platform.logs.readers === 0, { what: "the end of the reader" });
});

test("follow ends when the function is deleted", async () => {
  const stream = collect(await platform.call("GET", "/system/logs?name=hello&follow=true"));
  await platform.call("DELETE", "/system/functions", { functionName: "hello" });
  expect((await stream.ended).trim()).toBe("");
});

test("follow ends when the gateway closes", async () => {
  const closing = await openRestPlatform();
  await closing.call("PUT", "/system/functions", { service: "hello", image: "a" });
  const stream = collect(await closing.call("GET", "/system/logs?name=hello&follow=true"));
  await closing[Symbol.asyncDispose]();
  expect(await stream.ended).toBe("");
});

test("a log that fails midway is aborted, not ended", async () => {
  platform.logs.add(record("one"));
  platform.logs.failure = new Error("engine away");
  const stream = collect(await platform.call("GET", "/system/logs?name=hello"));
  await expect(stream.ended).rejects.toThrow();
  expect(platform.logged).toMatchObject([{ err: { message: "engine away" } }]);
});

test("a reader that does not read pauses the source", async () => {
  const line = record("x".repeat(60_000));
  for (let count = 0; count < 500; count += 1) platform.logs.records.push(line);
  let given = 0;
  const read = platform.logs.read.bind(platform.logs);
  platform.logs.read = async function* (query, signal) {
    for await (const one of read(query, signal)) {
      given += 1;
      yield one;
    }
  };
  const socket = connect(platform.port, "127.0.0.1");
  await once(socket, "connect");
  socket.pause();
  socket.write(`GET /system/logs?name=hello HTTP/1.1\r\nHost: x\r\nAuthorization: ${platform.authorization}\r\n\r\n`);
  let before = -1;
  await eventually(
    () => {
      const still = given === before && given > 0;
      before = given;
      return still;
    },
    { what: "the source to rest", every: 200 },
  );
  expect(given).toBeLessThan(450);
  socket.destroy();
});

test("a reader that does not read is aborted, its source closed and its place free", async () => {
  await using impatient = await openRestPlatform({ bodyIdleTimeout: 300 });
  await impatient.call("PUT", "/system/functions", { service: "hello", image: "a" });
  const line = record("x".repeat(60_000));
  let begun = 0;
  let open = 0;
  impatient.logs.read = async function* () {
    begun += 1;
    open += 1;
    try {
      for (;;) yield await Promise.resolve(line);
    } finally {
      open -= 1;
    }
  };
  // The kernel buffers megabytes of each connection before anything waits.
  const clients = await Promise.all(Array.from({ length: 8 }, () => openRawClient(impatient.port)));
  for (const client of clients) {
    client.socket.pause();
    client.send(`GET /system/logs?name=hello HTTP/1.1\r\nHost: x\r\nAuthorization: ${platform.authorization}\r\n\r\n`);
  }
  await eventually(() => begun === clients.length, { what: "all readers" });
  await eventually(() => open === 0, { what: "all readers to be cut" });
  for (const client of clients) {
    client.socket.resume();
    await client.end();
    client.close();
  }
});

test("a reader that does not read a long response is aborted", async () => {
  // Long enough that a reader is not mistaken for an idle one when the machine stalls.
  await using impatient = await openRestPlatform({ bodyIdleTimeout: 3_000 });
  const annotations = { text: "x".repeat(260_000) };
  for (let index = 0; index < 40; index += 1)
    await impatient.call("PUT", "/system/functions", { service: `f-${index}`, image: "a", annotations });
  const client = await openRawClient(impatient.port);
  client.socket.pause();
  const head = `Host: x\r\nAuthorization: ${platform.authorization}\r\n\r\n`;
  client.send(`GET /system/functions HTTP/1.1\r\n${head}`);
  const isOpen = () => impatient.connections().includes(client.socket.localPort ?? 0);
  await eventually(isOpen, { what: "the connection" });
  await eventually(() => !isOpen(), { what: "its end" });
  client.close();

  // A slow reader gets all of it.
  const patient = connect(impatient.port, "127.0.0.1");
  let bytes = 0;
  patient.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    patient.pause();
    setTimeout(() => patient.resume(), 5);
  });
  patient.write(`GET /system/functions HTTP/1.1\r\nConnection: close\r\n${head}`);
  await once(patient, "end");
  expect(bytes).toBeGreaterThan(10_000_000);
});

test("queries that cannot be read are 422, a missing name 400, an unknown function 404", async () => {
  const status = async (query: string): Promise<number> => (await platform.call("GET", `/system/logs${query}`)).status;
  expect(await status("")).toBe(400);
  expect(await status("?name=")).toBe(400);
  expect(await status("?name=a.b")).toBe(400);
  for (const bad of [
    "tail=abc",
    "tail=1e9",
    "tail=10001",
    "tail=1.5",
    "since=yesterday",
    "since=2026-02-30T00:00:00Z",
    "since=2026-01-01",
  ]) {
    expect(await status(`?name=hello&${bad}`), bad).toBe(422);
  }
  expect(await status("?name=hello&tail=abc&tail=1")).toBe(200);
  expect(await status("?name=A&name=hello&since=never&since=2026-01-01T00:00:00&follow=1&follow=0")).toBe(200);
  expect(platform.logs.queries.at(-1)).toMatchObject({ name: "hello", since: Date.UTC(2026, 0, 1), follow: false });
  expect(await status("?name=hello&tail=1&tail=abc")).toBe(422);
  expect(await status("?name=hello&tail=-1&since=2026-01-01T00:00:00.123456789%2B02:00")).toBe(200);
  expect(await status("?name=other")).toBe(404);
});

test("200 readers at once get every line; the 201st is 429, and one that ends makes room", async () => {
  const leaving = new AbortController();
  const open = () =>
    fetch(`${platform.url}/system/logs?name=hello&follow=1`, {
      headers: { authorization: platform.authorization },
      signal: leaving.signal,
    });
  const streams = await Promise.all(Array.from({ length: 200 }, open));
  const texts = streams.map(collect);
  const lines = Array.from({ length: 50 }, (_, index) => record(`${index} ${"x".repeat(1_000)}`));
  for (const line of lines) platform.logs.add(line);
  const all = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await eventually(() => texts.every(({ text }) => text().replaceAll(/^\n+/gm, "") === all), {
    what: "every line for every reader",
  });
  const refused = await platform.call("GET", "/system/logs?name=hello", undefined, { accept: "application/json" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
  expect(await refused.json()).toMatchObject({ code: "too_many_streams" });
  leaving.abort();
  await eventually(async () => (await platform.call("GET", "/system/logs?name=hello")).status === 200, {
    what: "room",
  });
});
