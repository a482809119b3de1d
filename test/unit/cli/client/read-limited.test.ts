import { PassThrough, Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { readLimited, readStartOf } from "../../../../runtime/cli/client/read-limited.ts";

const bytes = (...texts: readonly string[]): Readable => Readable.from(texts.map((text) => Buffer.from(text)));

function broken(code: string): Readable {
  const body = new PassThrough();
  body.write("start");
  body.destroy(Object.assign(new Error("boom"), { code }));
  return body;
}

/** Never ends, and says how much of it was read. */
function endless() {
  let read = 0;
  const body = new Readable({
    read() {
      read += 1_024;
      this.push(Buffer.alloc(1_024, "x"));
    },
  });
  return { body, read: () => read };
}

describe("readLimited", () => {
  test("joins chunks, also within a character", async () => {
    const text = Buffer.from("é");
    expect(await readLimited(Readable.from([text.subarray(0, 1), text.subarray(1)]), 2)).toBe("é");
    expect(await readLimited(bytes(), 0)).toBe("");
  });

  test("ends a body that is longer, without reading on", async () => {
    const { body, read } = endless();
    await expect(readLimited(body, 10_000)).rejects.toMatchObject({
      exit: 1,
      message: "Cannot read the reply: it is over 10000 bytes",
    });
    expect(read()).toBeLessThan(100_000);
    expect(body.destroyed).toBe(true);
  });

  test.each([
    ["ECONNRESET", 5, "Cannot read the file: the connection was closed before its end"],
    ["UND_ERR_BODY_TIMEOUT", 6, "Cannot read the file: its rest does not come"],
  ])("%s is exit code %i", async (code, exit, message) => {
    await expect(readLimited(broken(code), 100, "the file")).rejects.toMatchObject({ exit, message });
  });
});

describe("readStartOf", () => {
  test("is at most so many bytes, and does not wait for more", async () => {
    const { body } = endless();
    expect(await readStartOf(body, 10)).toBe("x".repeat(10));
    expect(await readStartOf(bytes("ab", "c"), 10)).toBe("abc");
  });

  test("is what came when the rest does not", async () => {
    expect("start".startsWith(await readStartOf(broken("ECONNRESET"), 10))).toBe(true);
  });
});
