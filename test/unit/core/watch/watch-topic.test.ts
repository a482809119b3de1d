import fc from "fast-check";
import { expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { parseWatchTopics } from "../../../../runtime/core/watch/watch-topic.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

test("topics are read as they are named, each once", () => {
  const text = `functions,functions:dev,function:dev:hello,queues,calls,call:${id.toUpperCase()},log:dev:hello,doctor,queues`;
  expect(parseWatchTopics(text)).toEqual([
    { on: "functions", kind: "functions", namespace: undefined },
    { on: "functions:dev", kind: "functions", namespace: "dev" },
    { on: "function:dev:hello", kind: "function", ref: { namespace: "dev", name: "hello" } },
    { on: "queues", kind: "queues" },
    { on: "calls", kind: "calls", parameters: {} },
    { on: `call:${id.toUpperCase()}`, kind: "call", id },
    { on: "log:dev:hello", kind: "log", ref: { namespace: "dev", name: "hello" } },
    { on: "doctor", kind: "doctor" },
  ]);
  expect(parseWatchTopics(undefined)).toEqual([]);
  expect(parseWatchTopics("")).toEqual([]);
});

test("a filter is the query of a list, in which a comma is encoded", () => {
  const filter = new URLSearchParams({ function: "hello.dev", state: "queued,waiting", since: "1h" }).toString();
  expect(parseWatchTopics(`calls:${filter},queues`)).toMatchObject([
    { on: `calls:${filter}`, parameters: { function: "hello.dev", state: "queued,waiting", since: "1h" } },
    { kind: "queues" },
  ]);
});

test.each([
  ["functions:", "functions"],
  ["functions:Dev", "functions"],
  ["function", "function:<namespace>:<name>"],
  ["function:dev", "function:<namespace>:<name>"],
  ["function:dev:hello:x", "function:<namespace>:<name>"],
  ["log:dev:", "log:<namespace>:<name>"],
  ["log:../dev:hello", "log:<namespace>:<name>"],
  ["queues:default", "queues alone"],
  ["doctor:x", "doctor alone"],
  ["call", "a UUID"],
  ["call:7f3c1d52", "a UUID"],
  ["calls:limit=5", "no limit"],
  ["calls:after=x", "no after"],
  ["calls:color=red", "parameters of a list"],
  ["queues,,doctor", "or doctor"],
  ["secrets", "or doctor"],
  [" queues", "or doctor"],
  ["x".repeat(4_097), "over the limit"],
])("%s cannot be watched", (text, expected) => {
  expect(() => parseWatchTopics(text)).toThrow(
    expect.objectContaining({ code: "validation_failed", message: expect.stringContaining(expected) }),
  );
});

test("one stream has at most 16 topics, 4 of them logs", () => {
  const many = (kind: string, count: number): string =>
    Array.from({ length: count }, (_, index) => `${kind}:dev:f${index}`).join(",");
  expect(parseWatchTopics(many("function", 16))).toHaveLength(16);
  expect(() => parseWatchTopics(many("function", 17))).toThrow(
    expect.objectContaining({ code: "validation_failed", message: expect.stringContaining("17 topics") }),
  );
  expect(parseWatchTopics(many("log", 4))).toHaveLength(4);
  expect(() => parseWatchTopics(many("log", 5))).toThrow(/5 of them logs/);
});

test("any text is read or refused", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        for (const { on } of parseWatchTopics(text)) expect(text.split(",")).toContain(on);
      } catch (err) {
        expect(err).toBeInstanceOf(PlatformError);
      }
    }),
  );
});

test("a request may have 4096 characters", () => {
  const filter = `calls:function=${"x".repeat(4_096 - "calls:function=".length)}`;
  expect(parseWatchTopics(filter)).toMatchObject([{ kind: "calls" }]);
  expect(() => parseWatchTopics(`${filter}x`)).toThrow(
    "Cannot read on: its 4097 characters are over the limit of 4096",
  );
});
