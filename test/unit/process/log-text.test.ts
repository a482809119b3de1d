import { PassThrough } from "node:stream";

import { describe, expect, test } from "vitest";

import { logText, paintFor, type Paint } from "../../../runtime/process/log-text.ts";

const bare: Paint = (_style, text) => text;
const painted: Paint = (style, text) => `<${style}>${text}</${style}>`;
const time = "2026-03-04T05:06:07.089Z";
const clock = new Date(time).toTimeString().slice(0, 8);
const line = (entry: object): string => `${JSON.stringify({ level: 30, time, name: "host", ...entry })}\n`;

describe("a line of the log for a person", () => {
  test("is time, what happened, the function and the rest", () => {
    const entry = { part: "provider", functionName: "hello", namespace: "fn", image: "hello:1", generation: 2 };
    expect(logText(line({ ...entry, msg: "function deployed" }), bare)).toBe(
      `${clock}  function deployed  hello.fn  image=hello:1  generation=2\n`,
    );
  });

  test("tells times by the clock, leaves out what is absent, and quotes what has spaces", () => {
    const entry = {
      callId: "7",
      status: 502,
      error: "it is away",
      next: time,
      traceId: null,
      msg: "queued call failed",
    };
    expect(logText(line(entry), bare)).toBe(
      `${clock}  queued call failed  callId=7  status=502  error="it is away"  next=${clock}\n`,
    );
  });

  test("says in which unit a time is", () => {
    expect(logText(line({ reason: "idle", duration: 1_520, msg: "call was cut" }), bare)).toBe(
      `${clock}  call was cut  reason=idle  duration=1520ms\n`,
    );
  });

  test("says which part of Weir speaks where it is about no function", () => {
    expect(logText(line({ part: "autoscaler", leads: true, msg: "became leader" }), bare)).toBe(
      `${clock}  autoscaler  became leader  leads=true\n`,
    );
  });

  test("names what is severe, and where an error happened", () => {
    const err = { type: "Error", message: "no room", stack: "Error: no room\n    at store (store.ts:1:2)" };
    expect(logText(line({ level: 40, err, msg: "cannot store" }), bare)).toBe(
      `${clock}  WARN  cannot store  no room\n`,
    );
    expect(logText(line({ level: 50, err, msg: "cannot store" }), bare)).toBe(
      `${clock}  ERROR  cannot store  no room\n          at store (store.ts:1:2)\n`,
    );
  });

  test("lets no text of a function steer the terminal", () => {
    const text = "\u001B[2Jgone\u0007\nnext";
    const told = logText(
      line({ functionName: text, error: text, err: { message: text }, msg: "replica failed" }),
      bare,
    );
    expect(told).not.toMatch(/[^\P{Cc}\n]/u);
    expect(told.split("\n")).toHaveLength(2);
  });

  test("is painted", () => {
    const told = logText(line({ level: 40, functionName: "hello", msg: "replica failed" }), painted);
    expect(told).toBe(`<dim>${clock}</dim>  <yellow>WARN</yellow>  replica failed  <bold>hello</bold>\n`);
  });

  test("stays as it is when it is no JSON", () => {
    expect(logText("segfault\n", bare)).toBe("segfault\n");
  });
});

test("what is no terminal gets no colour", () => {
  expect(paintFor(new PassThrough())("red", "x")).toBe("x");
});
