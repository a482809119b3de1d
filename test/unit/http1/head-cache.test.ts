import { expect, test } from "vitest";

import type { ResponseHead } from "../../../runtime/http1/response-head.ts";
import { HeadCache } from "../../../runtime/http1/head-cache.ts";
import { readAnswer } from "../../support/read-answer.ts";

const read = (text: string, memory: HeadCache<ResponseHead>) => readAnswer([Buffer.from(text, "latin1")], { memory });

test("a repeated head gives the identical headers, whatever the body", () => {
  const memory = new HeadCache<ResponseHead>();
  const head = "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\n";
  const first = read(`${head}ab`, memory);
  const again = read(`${head}cd`, memory);
  expect(again).toMatchObject({ status: 200, body: "cd", outcome: "whole", persistent: true });
  expect(again.headers).toBe(first.headers);
  memory.clear();
  expect(read(`${head}ab`, memory).headers).not.toBe(first.headers);
});

test("a head that differs in one byte is parsed", () => {
  const memory = new HeadCache<ResponseHead>();
  const responses = ["200", "201", "200"].map((status) =>
    read(`HTTP/1.1 ${status} OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n`, memory),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 201, 200]);
});

test.each([
  ["HEAD", { headOnly: true }, "whole"],
  ["GET", {}, "open"],
])("framing depends on the current request, not on earlier ones: %s", (_method, asked, outcome) => {
  const memory = new HeadCache<ResponseHead>();
  const head = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  for (const headOnly of [true, false]) readAnswer([head], { headOnly, memory });
  expect(readAnswer([head], { ...asked, memory }).outcome).toBe(outcome);
});

test("a head that is malformed is refused each time", () => {
  const memory = new HeadCache<ResponseHead>();
  const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (let count = 0; count < 3; count += 1) expect(read(text, memory).outcome).toBe("malformed");
});

test("interim responses and long heads are not cached", () => {
  const memory = new HeadCache<ResponseHead>();
  const final = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  const first = read(final, memory);
  read(`HTTP/1.1 103 Early\r\nLink: a\r\n\r\n${final}`, memory);
  read(`HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(4_000)}\r\nContent-Length: 0\r\n\r\n`, memory);
  expect(read(final, memory).headers).toBe(first.headers);
});
