import { createHash, randomBytes, randomUUID } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";
import { openRawClient, rawRequest } from "../support/raw-client.ts";

const limit = 1_048_576;

let bench: FaultBench;
let platform: Platform;
let echo: FunctionServer;

beforeAll(async () => {
  bench = await openFaultBench();
  ({ platform } = bench);
  echo = await bench.open("echo");
});

afterAll(() => bench?.close());

const bodies = [limit - 1, limit].map((size) => ({ size, body: randomBytes(size) }));

test.each(bodies)("FG6 $size bytes with and without length arrive as they were sent", async ({ size, body }) => {
  const head = `POST /async-function/echo HTTP/1.1\r\nHost: test\r\nConnection: close\r\n`;
  const counted = Buffer.concat([Buffer.from(`${head}Content-Length: ${size}\r\n\r\n`), body]);
  const chunked = Buffer.concat([
    Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`),
    body,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);
  for (const request of [counted, chunked]) {
    const reply = await rawRequest(platform.port, request);
    expect(reply.status).toBe(202);
    const id = reply.headers["x-call-id"] ?? "";
    expect((await platform.calls.ended(id)).state).toBe("done");
    const run = echo.requests.find((seen) => seen.headers["x-call-id"] === id);
    expect(run?.headers["content-length"]).toBe(String(size));
    expect(sha256(Buffer.from(run?.body ?? "", "latin1"))).toBe(sha256(body));
  }
});

test("FG6 one byte more is 413: at once if the length is given, else when it has arrived", async () => {
  const head = `POST /async-function/echo HTTP/1.1\r\nHost: test\r\n`;
  const announced = await rawRequest(platform.port, `${head}Content-Length: ${limit + 1}\r\n\r\n`);
  expect(announced).toMatchObject({ status: 413, closed: true });

  const client = await openRawClient(platform.port);
  client.send(`${head}Transfer-Encoding: chunked\r\n\r\n${(limit + 1).toString(16)}\r\n`);
  client.send(Buffer.alloc(limit + 1));
  const [reply] = await client.replies(1);
  expect(reply?.status).toBe(413);
  await client.end();
  client.close();
});

test("FG6 a full body and 15 KiB of headers fit together", async () => {
  const body = randomBytes(limit);
  const headers = Object.fromEntries(
    Array.from({ length: 15 }, (_, index) => [`x-pad-${index}`, "ä".repeat(10) + "p".repeat(990)]),
  );
  const raw = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const reply = await rawRequest(
    platform.port,
    Buffer.concat([
      Buffer.from(
        `POST /async-function/echo HTTP/1.1\r\nHost: test\r\n${raw}Content-Length: ${limit}\r\n\r\n`,
        "latin1",
      ),
      body,
    ]),
  );
  expect(reply.status).toBe(202);
  const id = reply.headers["x-call-id"] ?? "";
  await platform.calls.ended(id);

  const run = echo.requests.find((seen) => seen.headers["x-call-id"] === id);
  expect(run?.headers).toMatchObject(headers);
  expect(sha256(Buffer.from(run?.body ?? "", "latin1"))).toBe(sha256(body));
});

test("FW10 an output of 50 MB: streamed to a synchronous caller, an empty callback that says so, and a worker that stays small", async () => {
  const size = 50 * 1_048_576;
  const chunk = Buffer.alloc(65_536, "x");
  await bench.open("huge", (_request, response) => {
    let left = size;
    const write = (): void => {
      while (left > 0) {
        left -= chunk.byteLength;
        if (!response.write(chunk)) {
          response.once("drain", write);
          return;
        }
      }
      response.end();
    };
    write();
  });
  const before = (await platform.worker.measure()).memory;
  const sync = await platform.calls.send("POST", "/function/huge");
  expect([sync.status, sync.body.byteLength]).toEqual([200, size]);

  const id = await platform.calls.accepted("huge", { callbackUrl: bench.sink.url });
  let most = 0;
  await eventually(
    async () => {
      most = Math.max(most, (await platform.worker.measure()).memory);
      return bench.sink.of(id)[0];
    },
    { what: "the callback" },
  );
  expect(bench.sink.of(id)[0]).toMatchObject({ bodySize: 0, headers: { "x-result-truncated": "true" } });
  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", result: { size, stored: false } });
  expect(most - before).toBeLessThan(20 * 1_048_576);
});

test("an upload that is aborted half-way leaves no record, no call and no open connection", async () => {
  const before = echo.requests.length;
  const ids = Array.from({ length: 50 }, () => randomUUID());
  for (const id of ids) {
    const client = await openRawClient(platform.port);
    client.send(
      `POST /async-function/echo HTTP/1.1\r\nHost: test\r\nX-Call-Id: ${id}\r\nContent-Length: 100000\r\n\r\n`,
    );
    client.send(Buffer.alloc(50_000));
    await new Promise((resolve) => client.socket.write("", resolve));
    client.close();
  }
  expect((await platform.calls.queue("echo")).status).toBe(202);

  await expect.poll(async () => (await platform.broker.calls()).messages).toBe(0);
  for (const id of ids) expect(await platform.broker.ledger.read(id)).toBeUndefined();
  expect(echo.requests.length).toBe(before + 1);
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
