import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";

import { passLines } from "../../../runtime/watchdog/pass-lines.ts";

/** A log that keeps each chunk that is written to it. */
function openLog() {
  const chunks: string[] = [];
  const log = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk.toString());
      setImmediate(done);
    },
  });
  return { log, chunks };
}

test.each<[what: string, input: string[], chunks: string[]]>([
  ["nothing", [], []],
  ["a line", ["one\n"], ["one\n"]],
  ["a line in chunks", ["o", "n", "e\n"], ["one\n"]],
  ["lines and a part", ["one\ntwo\nthr", "ee\n"], ["one\ntwo\n", "three\n"]],
  ["a last line without newline", ["one\ntwo"], ["one\n", "two\n"]],
  ["an empty line", ["\n"], ["\n"]],
])("%s", async (_what, input, chunks) => {
  const opened = openLog();
  const source = new PassThrough();
  const passed = passLines(source, opened.log);
  for (const chunk of input) source.write(chunk);
  source.end();
  await passed;
  expect(opened.chunks).toEqual(chunks);
});

test("each line begins with the tag, whatever chunks it comes in", async () => {
  const { log, chunks } = openLog();
  const source = new PassThrough({ highWaterMark: 1_000_000 });
  const passed = passLines(source, log, "<7>");
  for (const chunk of ["one\ntw", "o\n\nthr", "ee\n", "x".repeat(70_000)]) {
    source.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  source.end("y\nlast");
  await passed;
  const long = "x".repeat(70_000);
  expect(chunks.join("")).toBe(`<7>one\n<7>two\n<7>\n<7>three\n<7>${long}y\n<7>last\n`);
});

test("lines of two processes do not mix, and one that began is finished first", async () => {
  const { log, chunks } = openLog();
  const [a, b] = [new PassThrough(), new PassThrough()];
  const passed = [passLines(a, log), passLines(b, log)];
  a.write("begun by a");
  b.end("said by b");
  await passed[1];
  expect(chunks).toEqual(["said by b\n"]);
  a.destroy();
  await passed[0];
  expect(chunks).toEqual(["said by b\n", "begun by a\n"]);
});

test("no more than 64 KiB of a line are held, and it gets its newline", async () => {
  const { log, chunks } = openLog();
  const source = new PassThrough({ highWaterMark: 1_000_000 });
  const passed = passLines(source, log);
  source.write("x".repeat(70_000));
  source.end();
  await passed;
  expect(chunks.map((chunk) => chunk.length)).toEqual([70_000, 1]);
  expect(chunks.at(-1)).toBe("\n");
});

test("a log whose reader is gone blocks no process", async () => {
  const log = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
  log.on("error", () => {});
  const source = new PassThrough();
  const passed = passLines(source, log);
  source.write("one\n");
  source.end("two\n");
  await passed;
  expect(log.destroyed).toBe(true);
});
