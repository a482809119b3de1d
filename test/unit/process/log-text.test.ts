import { PassThrough } from "node:stream";

import { describe, expect, test } from "vitest";

import { logText, paintFor, type Paint } from "../../../runtime/process/log-text.ts";

const bare: Paint = (_style, text) => text;
const painted: Paint = (style, text) => `<${style}>${text}</${style}>`;
const time = "2026-03-04T05:06:07.089Z";
const clock = new Date(time).toTimeString().slice(0, 8);
const line = (entry: object): string => `${JSON.stringify({ level: 30, time, name: "host", ...entry })}\n`;

describe("a line of the log for a person", () => {
  test("has time, message, function and the other fields", () => {
    const entry = { part: "provider", functionName: "hello", namespace: "fn", image: "hello:1", generation: 2 };
    expect(logText(line({ ...entry, msg: "function deployed" }), bare)).toBe(
      `${clock}  function deployed  hello.fn  image=hello:1  generation=2\n`,
    );
  });

  test("shows times of day, leaves out absent fields, and quotes values with spaces", () => {
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

  test("gives the unit of a duration", () => {
    expect(logText(line({ reason: "idle", duration: 1_520, msg: "call was cut" }), bare)).toBe(
      `${clock}  call was cut  reason=idle  duration=1520ms\n`,
    );
  });

  test("names the part of Weir when it is about no function", () => {
    expect(logText(line({ part: "autoscaler", leads: true, msg: "became leader" }), bare)).toBe(
      `${clock}  autoscaler  became leader  leads=true\n`,
    );
  });

  test("names severe levels, and where an error happened", () => {
    const err = { type: "Error", message: "no room", stack: "Error: no room\n    at store (store.ts:1:2)" };
    expect(logText(line({ level: 40, err, msg: "cannot store" }), bare)).toBe(
      `${clock}  WARN  cannot store  no room\n`,
    );
    expect(logText(line({ level: 50, err, msg: "cannot store" }), bare)).toBe(
      `${clock}  ERROR  cannot store  no room\n          at store (store.ts:1:2)\n`,
    );
  });

  test("lets no text of a function control the terminal", () => {
    const text = "\u001B[2Jgone\u0007\nnext";
    const output = logText(
      line({ functionName: text, error: text, err: { message: text }, msg: "replica failed" }),
      bare,
    );
    expect(output).not.toMatch(/[^\P{Cc}\n]/u);
    expect(output.split("\n")).toHaveLength(2);
  });

  test("is painted", () => {
    const output = logText(line({ level: 40, functionName: "hello", msg: "replica failed" }), painted);
    expect(output).toBe(`<dim>${clock}</dim>  <yellow>WARN</yellow>  replica failed  <bold>hello</bold>\n`);
  });

  test("stays as it is when it is not JSON", () => {
    expect(logText("segfault\n", bare)).toBe("segfault\n");
  });
});

test("an output that is no terminal gets no colour", () => {
  expect(paintFor(new PassThrough())("red", "x")).toBe("x");
});
