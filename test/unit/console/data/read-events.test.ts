import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readJsonLines, readLines } from "../../../../runtime/console/data/requests/read-lines.ts";
import { readEvents, streamComment } from "../../../../runtime/console/data/stream/read-events.ts";

/** A body in portions of the given sizes. */
function bodyOf(text: string, sizes: readonly number[] = []): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const portions: Uint8Array[] = [];
  let from = 0;
  for (const size of sizes) {
    portions.push(bytes.slice(from, from + size));
    from += size;
  }
  portions.push(bytes.slice(from));
  return new ReadableStream({
    start: (controller) => {
      for (const portion of portions) controller.enqueue(portion);
      controller.close();
    },
  });
}

describe("readLines()", () => {
  test("lines are the same however the body is cut, within characters too", async () => {
    const text = fc.array(fc.string({ unit: "grapheme" }).map((each) => each.replaceAll("\n", "")));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(7)), async (lines, sizes) => {
        const found = await Array.fromAsync(readLines(bodyOf(lines.map((line) => `${line}\n`).join(""), sizes)));
        expect(found).toEqual(lines.map((line) => line.toWellFormed()));
      }),
    );
  });

  test("the last line needs no end", async () => {
    expect(await Array.fromAsync(readLines(bodyOf("a\n\nb")))).toEqual(["a", "", "b"]);
  });
});

test("readJsonLines() takes empty lines for signs of life", async () => {
  const response = new Response(bodyOf('{"a":1}\n\n[2]\n'));

  expect(await Array.fromAsync(readJsonLines(response))).toEqual([{ a: 1 }, [2]]);
});

describe("readEvents()", () => {
  test("events have names and data, comments show life", async () => {
    const text =
      'event: hello\ndata: {"a":\ndata: 1}\n\n: alive\n\ndata:bare\r\n\r\nevent: nothing\n\nid: 4\ndata: x\n\n';

    const found = await Array.fromAsync(readEvents(bodyOf(text, [3, 1, 20, 2])));

    expect(found).toEqual([
      { name: "hello", data: '{"a":\n1}' },
      streamComment,
      { name: "message", data: "bare" },
      { name: "message", data: "x" },
    ]);
  });

  test("an event that was cut off is none", async () => {
    expect(await Array.fromAsync(readEvents(bodyOf("event: a\ndata: 1\n\nevent: b\ndata: 2")))).toEqual([
      { name: "a", data: "1" },
    ]);
  });
});
