import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { queryOf } from "../../../../runtime/cli/logs/follow-log.ts";
import { ndjsonValues } from "../../../../runtime/cli/logs/ndjson-values.ts";
import { logDocument, logLine } from "../../../../runtime/cli/logs/log-line.ts";

const bodyOf = (...chunks: readonly (string | Uint8Array)[]): Readable =>
  Readable.from(chunks.map((each) => Buffer.from(each)));
const valuesOf = async (body: Readable): Promise<unknown[]> => Array.fromAsync(ndjsonValues(body));

describe("ndjsonValues()", () => {
  test("reads a value from each line, however they are cut into chunks", async () => {
    const bytes = Buffer.from('{"a":"ä"}\n\n  \n{"a":2}\r\n3\n');
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await valuesOf(bodyOf(...single))).toEqual([{ a: "ä" }, { a: 2 }, 3]);
    expect(await valuesOf(bodyOf(bytes))).toEqual([{ a: "ä" }, { a: 2 }, 3]);
  });

  test("a stream that ends within a line is broken", async () => {
    await expect(valuesOf(bodyOf('{"a":1}\n{"a"'))).rejects.toMatchObject({ name: "BrokenStream" });
  });

  test("a stream that breaks off is broken", async () => {
    const body = new Readable({ read() {} });
    body.push("1\n");
    const values = ndjsonValues(body);
    expect(await values.next()).toEqual({ done: false, value: 1 });
    body.destroy(new Error("other side closed"));
    await expect(values.next()).rejects.toMatchObject({ name: "BrokenStream" });
  });

  test("what is no JSON is an error with exit code 1", async () => {
    const failure = { exit: 1, message: "Cannot read the stream: a line of it is not JSON" };
    await expect(valuesOf(bodyOf("<html>\n"))).rejects.toMatchObject(failure);
  });

  test("a line without an end is not collected", async () => {
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        for (; ; sent++) yield Buffer.alloc(65_536, "x");
      })(),
    );
    await expect(valuesOf(endless)).rejects.toMatchObject({ exit: 1 });
    expect(sent * 65_536).toBeLessThan(2 * 1024 * 1024);
  });
});

describe("a line of a log", () => {
  const record = {
    name: "hello",
    namespace: "functions",
    instance: "hello-1-0\u202e",
    timestamp: "2026-01-31T12:00:00.123456789Z",
    text: "a\tb\u001b[31m\r\u0007\u202egnp.exe\u009b2J\nforged\n",
  };

  test("shows what would change the terminal as its code, and is one line", () => {
    const line = logLine(record);
    expect(line).toMatch(/^2026-0[12]-\d\d \d\d:\d0:00 {2}hello-1-0\\u202e {2}/);
    expect(line.endsWith("a\tb\\u001b[31m\\u000d\\u0007\\u202egnp.exe\\u009b2J\\nforged\n")).toBe(true);
    expect(line.match(/\n/g)).toHaveLength(1);
  });

  test("as JSON is the same value, without such characters", () => {
    const document = logDocument(record);
    expect(JSON.parse(document)).toEqual(record);
    expect(document.trimEnd()).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    expect(document.match(/\n/g)).toHaveLength(1);
  });
});

describe("queryOf()", () => {
  const selection = {
    name: "hello",
    namespace: undefined,
    instance: undefined,
    tail: 20,
    since: undefined,
    follow: true,
  };

  test("asks for what was asked for at first", () => {
    expect(queryOf({ ...selection, since: 0 }, undefined)).toEqual({
      ...selection,
      since: "1970-01-01T00:00:00.000Z",
    });
  });

  test("asks for what follows the last line, and a little before it, after a break", () => {
    expect(queryOf(selection, "2026-01-31T12:00:20.123456789Z")).toEqual({
      ...selection,
      tail: undefined,
      since: "2026-01-31T12:00:10.123Z",
    });
  });

  test("never asks for more than was asked for", () => {
    const since = Date.parse("2026-01-31T12:00:15Z");
    expect(queryOf({ ...selection, since }, "2026-01-31T12:00:20Z")["since"]).toBe("2026-01-31T12:00:15.000Z");
  });
});
