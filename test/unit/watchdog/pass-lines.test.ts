import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";

import { passLines } from "../../../runtime/watchdog/pass-lines.ts";

/** A log that keeps what is written to it, each piece apart. */
function openLog() {
  const pieces: string[] = [];
  const log = new Writable({
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece.toString());
      setImmediate(done);
    },
  });
  return { log, pieces };
}

test.each<[what: string, chunks: string[], pieces: string[]]>([
  ["nothing", [], []],
  ["a line", ["one\n"], ["one\n"]],
  ["a line in pieces", ["o", "n", "e\n"], ["one\n"]],
  ["lines and a part", ["one\ntwo\nthr", "ee\n"], ["one\ntwo\n", "three\n"]],
  ["a last line without newline", ["one\ntwo"], ["one\n", "two\n"]],
  ["a line that says nothing", ["\n"], ["\n"]],
])("%s", async (_what, chunks, pieces) => {
  const opened = openLog();
  const source = new PassThrough();
  const passed = passLines(source, opened.log);
  for (const chunk of chunks) source.write(chunk);
  source.end();
  await passed;
  expect(opened.pieces).toEqual(pieces);
});

test("lines of two processes do not mix, and what one began it finishes", async () => {
  const { log, pieces } = openLog();
  const [a, b] = [new PassThrough(), new PassThrough()];
  const passed = [passLines(a, log), passLines(b, log)];
  a.write("begun by a");
  b.end("said by b");
  await passed[1];
  expect(pieces).toEqual(["said by b\n"]);
  a.destroy();
  await passed[0];
  expect(pieces).toEqual(["said by b\n", "begun by a\n"]);
});

test("of a line longer than 64 KiB no more is held, and it gets its newline", async () => {
  const { log, pieces } = openLog();
  const source = new PassThrough({ highWaterMark: 1_000_000 });
  const passed = passLines(source, log);
  source.write("x".repeat(70_000));
  source.end();
  await passed;
  expect(pieces.map((piece) => piece.length)).toEqual([70_000, 1]);
  expect(pieces.at(-1)).toBe("\n");
});

test("a log whose reader is gone keeps no process waiting", async () => {
  const log = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => done(new Error("EPIPE")) });
  log.on("error", () => {});
  const source = new PassThrough();
  const passed = passLines(source, log);
  source.write("one\n");
  source.end("two\n");
  await passed;
  expect(log.destroyed).toBe(true);
});
