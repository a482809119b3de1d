import { Socket } from "node:net";
import { expect, test } from "vitest";

import { createHeadReader } from "../../../runtime/gateway/invocation/head-reader.ts";
import { readPlainRequest } from "../../../runtime/gateway/fast-path/plain-head.ts";
import { PlainRequest } from "../../../runtime/gateway/fast-path/plain-request.ts";

/** Requests that say the same one after another on one connection. */
function repeated(lines: string): () => PlainRequest {
  const bytes = Buffer.from(`GET /function/a HTTP/1.1\r\nHost: g\r\n${lines}\r\n`);
  let last = readPlainRequest(bytes)?.head;
  return () => {
    const parts = readPlainRequest(bytes, last);
    if (parts === undefined) throw new Error("it is not plain");
    last = parts.head;
    return new PlainRequest(parts, new Socket());
  };
}

test("a head that comes again is understood once", () => {
  const next = repeated("X-A: 1\r\n");
  const read = createHeadReader({});
  const first = next().understand(read);
  expect(first.forward.list.slice(0, 2)).toEqual(["X-A", "1"]);
  expect(next().understand(read)).toBe(first);
});

test("whether a key is good is asked each time", () => {
  const next = repeated("Weir-Invoke: secret\r\n");
  let good = true;
  const read = createHeadReader({ isInvokeKey: () => good });
  expect(next().understand(read).fromWorker).toBe(true);
  good = false;
  expect(next().understand(read).fromWorker).toBe(false);
});

test("a head that is refused is refused each time", () => {
  const next = repeated("X-Call-Id: 1\r\nX-Call-Id: 2\r\n");
  const read = createHeadReader({});
  for (let count = 0; count < 2; count += 1) expect(() => next().understand(read)).toThrow("came twice");
});
