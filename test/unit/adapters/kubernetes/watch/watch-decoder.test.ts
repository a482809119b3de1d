import fc from "fast-check";
import { expect, test } from "vitest";

import {
  WatchDecodeError,
  WatchDecoder,
  type WatchEvent,
} from "../../../../../runtime/adapters/kubernetes/watch/watch-decoder.ts";
import { checkDecoding } from "../../../../../scripts/fuzz/targets/watch-decoder.ts";

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const object = (version: string, rest: object = {}) => ({
  metadata: { name: "echo", namespace: "dev", resourceVersion: version },
  ...rest,
});

function decode(text: string, limit?: number): WatchEvent[] {
  return [...new WatchDecoder(limit).push(Buffer.from(text))];
}

test("each line is an event, the last one only when it is complete", () => {
  const text = [
    line("ADDED", object("7", { spec: { image: "é€😀" } })),
    "\r\n",
    line("BOOKMARK", { kind: "Pod", metadata: { resourceVersion: "8" } }),
    line("LATER", object("9")),
    line("ERROR", { kind: "Status", code: 410 }),
    line("ADDED", object("10")).trimEnd(),
  ];
  expect(decode(text.join(""))).toEqual([
    { type: "ADDED", object: object("7", { spec: { image: "é€😀" } }) },
    { type: "BOOKMARK", resourceVersion: "8" },
    { type: "ERROR", status: { kind: "Status", code: 410 } },
  ]);
});

test.each([
  ["no JSON", "{]\n", "a line is not JSON"],
  ["no UTF-8", '{"type":"\xff"}\n', "a line is not JSON"],
  ["no type", "{}\n", "an event has no type"],
  ["no object", '{"type":"ADDED","object":[]}\n', 'an event "ADDED" has no object'],
  ["no version", line("ADDED", { metadata: { name: "a" } }), "an object has no version"],
  ["no name", line("DELETED", { metadata: { resourceVersion: "1" } }), "an object has no name"],
])("%s is refused, then and from then on, and earlier events are delivered", (_, bad, reason) => {
  const decoder = new WatchDecoder();
  const seen: WatchEvent[] = [];
  const push = (): void => {
    for (const event of decoder.push(Buffer.from(line("ADDED", object("7")) + bad, "latin1"))) seen.push(event);
  };
  expect(push).toThrow(new WatchDecodeError(`Cannot read the watch: ${reason}`));
  expect(push).toThrow(reason);
  expect(seen).toHaveLength(1);
});

test("a line over the limit is refused before it is read to its end", () => {
  expect(() => decode("x".repeat(101), 100)).toThrow("a line is over the limit of 100 bytes");
  expect(decode(" ".repeat(100), 100)).toEqual([]);
  expect(decode(`${" ".repeat(100)}\n`, 100)).toEqual([]);
});

test("the events are the same, wherever the text is cut", () => {
  const meta = fc.record({
    name: fc.string({ minLength: 1, unit: "grapheme" }),
    namespace: fc.option(fc.string(), { nil: undefined }),
    resourceVersion: fc.stringMatching(/^\d{1,4}$/),
  });
  const good = fc
    .tuple(fc.constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "OTHER"), meta, fc.jsonValue())
    .map(([type, metadata, spec]) => line(type, { metadata, spec }));
  const text = fc.array(fc.oneof({ weight: 8, arbitrary: good }, fc.constantFrom("\n", "{}\n", "{", "null\n", "\r\n")));
  fc.assert(fc.property(text, fc.nat(), (lines, seed) => checkDecoding(Buffer.from(lines.join("")), seed)));
});
