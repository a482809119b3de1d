import { PassThrough } from "node:stream";
import { buffer, text } from "node:stream/consumers";

import { describe, expect, test } from "vitest";

import { ReplayableInput } from "../../../../runtime/cli/calls/replayable-input.ts";

function inputOf(chunks: readonly string[], limit = 100): ReplayableInput {
  const source = new PassThrough();
  for (const chunk of chunks) source.write(chunk);
  source.end();
  return new ReplayableInput(source, "standard input", limit);
}

describe("ReplayableInput", () => {
  test("reads a short input to its end", async () => {
    expect((await inputOf(["ab", "cd"]).readAhead(4))?.toString()).toBe("abcd");
    expect((await inputOf([]).readAhead(4))?.byteLength).toBe(0);
  });

  test("does not read a longer one to its end, and loses nothing of it", async () => {
    const source = new PassThrough();
    source.write("abc");
    source.write("def");
    const input = new ReplayableInput(source, "standard input", 100);
    expect(await input.readAhead(4)).toBeUndefined();
    source.end("ghi");
    expect(await text(input.open())).toBe("abcdefghi");
  });

  test("is opened again from its start while it is short", async () => {
    const input = inputOf(["ab", "cd", "ef"], 6);
    expect(await text(input.open())).toBe("abcdef");
    expect(await text(input.open())).toBe("abcdef");
  });

  test("gives a second reader what the first one was waiting for", async () => {
    const source = new PassThrough();
    source.write("ab");
    const input = new ReplayableInput(source, "standard input", 100);
    const first = input.open()[Symbol.asyncIterator]();
    expect(String((await first.next()).value)).toBe("ab");
    // It asks for the next chunk and is given up before there is one.
    void first.next();
    const second = text(input.open());
    source.end("cd");
    expect(await second).toBe("abcd");
  });

  test("is not opened again once it is longer than what is kept", async () => {
    const input = inputOf(["abcd", "efgh"], 6);
    expect(await text(input.open())).toBe("abcdefgh");
    expect(() => input.open()).toThrow(/^Cannot send standard input a second time: it is too long to be kept/);
  });

  test("keeps nothing after it was released", async () => {
    const input = inputOf(["ab", "cd"], 100);
    const stream = input.open();
    input.release();
    expect((await buffer(stream)).toString()).toBe("abcd");
    expect(() => input.open()).toThrow(/^Cannot send standard input a second time/);
  });

  test("says why it cannot be read", async () => {
    const source = new PassThrough();
    source.destroy(new Error("EISDIR: illegal operation"));
    const input = new ReplayableInput(source, "standard input", 100);
    const sentence = "Cannot read standard input: EISDIR: illegal operation";
    await expect(input.readAhead(10)).rejects.toThrow(sentence);
    await expect(text(input.open())).rejects.toThrow(sentence);
    expect(input.failure?.message).toBe(sentence);
  });
});
