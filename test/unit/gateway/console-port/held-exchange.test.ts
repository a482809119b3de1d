import { expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { CachedHeaders } from "../../../../runtime/core/headers/cached-headers.ts";
import { HeldExchange, type HeldRequest } from "../../../../runtime/gateway/console-port/calls/held-exchange.ts";

const held = (over: Partial<HeldRequest> = {}): HeldExchange =>
  new HeldExchange({
    method: "POST",
    url: "/function/hello",
    headers: ["Host", "gateway:8080", "X-A", "b"],
    body: Buffer.from("hi"),
    address: "10.0.0.9",
    limit: 10,
    longest: 60_000,
    ...over,
  });

test("the request is like one that came over a connection", () => {
  const exchange = held();
  expect(exchange.head).toMatchObject({ contentLength: 2, chunked: false, fromWorker: false });
  expect(exchange.head.forward.list).toEqual([
    "X-A",
    "b",
    "X-Forwarded-For",
    "10.0.0.9",
    "X-Forwarded-Host",
    "gateway:8080",
    "X-Forwarded-Proto",
    "http",
  ]);
  expect(exchange.body?.toString()).toBe("hi");
  const empty = held({ body: Buffer.alloc(0) });
  expect([empty.body, empty.head.contentLength]).toEqual([undefined, undefined]);
});

test("the whole reply is held, without headers of one connection", async () => {
  const exchange = held();
  exchange.writeHead(201, ["X-B", "c", "Connection", "close"], new CachedHeaders(["Content-Type", "text/plain"]));
  let isDone = false;
  expect(exchange.write(Buffer.from("one"), () => (isDone = true))).toBe(true);
  exchange.write("é", "latin1");
  exchange.end("!");
  const { body, ...reply } = (await exchange.replied) ?? { body: Buffer.alloc(0) };
  expect(reply).toEqual({ status: 201, headers: ["Content-Type", "text/plain", "X-B", "c"], truncated: false });
  expect([...body]).toEqual([...Buffer.from("one"), 0xe9, 0x21]);
  expect(isDone).toBe(true);
});

test("chunks are copied: their memory is used again", async () => {
  const exchange = held();
  const chunk = Buffer.from("mine");
  exchange.writeHead(200).write(chunk);
  chunk.fill(0xdd);
  exchange.end();
  expect((await exchange.replied)?.body.toString()).toBe("mine");
});

test("a reply over the limit is cut there, and broken off", async () => {
  const exchange = held();
  exchange.writeHead(200).write("12345678", "latin1");
  expect(exchange.destroyed).toBe(false);
  exchange.write("90abc", "latin1");
  expect(exchange.destroyed).toBe(true);
  exchange.write("more", "latin1");
  const reply = await exchange.replied;
  expect([reply?.body.toString(), reply?.truncated]).toEqual(["1234567890", true]);
});

test("one of exactly the limit is whole", async () => {
  const exchange = held();
  exchange.writeHead(200).end("1234567890");
  expect(await exchange.replied).toMatchObject({ truncated: false });
});

test("a reply that does not end is broken off", async () => {
  const exchange = held({ longest: 1 });
  exchange.writeHead(200).write("a", "latin1");
  const reply = await exchange.replied;
  expect([reply?.body.toString(), reply?.truncated, exchange.destroyed]).toEqual(["a", true, true]);
});

test("a head of which nothing was sent can be withdrawn", async () => {
  const exchange = held();
  exchange.writeHead(200, ["X-B", "c"]);
  expect(exchange.takeBack()).toBe(true);
  exchange.writeHead(502).write("x", "latin1");
  expect(exchange.takeBack()).toBe(false);
  exchange.end();
  expect(await exchange.replied).toMatchObject({ status: 502, headers: [] });
});

test("an error of the gateway rejects, and counts by its status", async () => {
  const exchange = held();
  const err = new PlatformError("function_unreachable", "Cannot call function: it is away");
  exchange.fail(err);
  await expect(exchange.replied).rejects.toBe(err);
  expect(exchange.statusCode).toBe(502);
});

test("after the head, it can only break the reply off", async () => {
  const exchange = held();
  exchange.writeHead(200).write("a", "latin1");
  exchange.fail(new Error("too late"));
  expect(await exchange.replied).toMatchObject({ status: 200, truncated: true });
});

test("who leaves before the head gets nothing", async () => {
  const exchange = held();
  exchange.destroy();
  expect(exchange.isLost()).toBe(true);
  expect(await exchange.replied).toBeUndefined();
});
