import { describe, expect, test } from "vitest";

import type { LogRecord } from "../../../../runtime/api/schemas/log-record.ts";
import { lineOfPart, momentOfLine } from "../../../../runtime/console/pages/functions/logs/log-line.ts";
import { ShownLines, narrowLines } from "../../../../runtime/console/pages/functions/logs/shown-lines.ts";
import {
  curlLine,
  headerOf,
  readTriedReply,
  tryHeaders,
  tryTarget,
  type TriedCall,
} from "../../../../runtime/console/pages/functions/try/try-call.ts";

const call: TriedCall = {
  named: { name: "pay", namespace: "dev" },
  method: "POST",
  path: "/orders?page=2",
  headers: [],
  body: "hello",
  queued: false,
};

describe("a tried call", () => {
  test.each([
    ["/orders?page=2", "/ui/try/pay.dev/orders?page=2"],
    ["orders", "/ui/try/pay.dev/orders"],
    ["?a=1", "/ui/try/pay.dev?a=1"],
    ["", "/ui/try/pay.dev/"],
  ])("path %j goes to %s", (path, target) => {
    expect(tryTarget({ ...call, path })).toBe(target);
  });

  test("headers for the function travel as JSON in one of ASCII", () => {
    const headers = tryHeaders({
      headers: [
        ["X-Name", "Zoë\n"],
        ["", "dropped"],
      ],
      queued: true,
    });

    expect(headers).toEqual({
      "X-Weir-Console": "1",
      "X-Weir-Queued": "1",
      "X-Weir-Headers": '[["X-Name","Zo\\u00eb\\n"]]',
    });
  });

  test("what the function said is data, whatever the gateway's own status is", async () => {
    const response = new Response(new Uint8Array([255, 0]), {
      headers: {
        "X-Weir-Status": "503",
        "X-Weir-Headers": '[["X-Call-Id","1"],["a","b"]]',
        "X-Weir-Truncated": "true",
      },
    });

    const reply = await readTriedReply(response);

    expect(reply).toEqual({
      status: 503,
      headers: [
        ["X-Call-Id", "1"],
        ["a", "b"],
      ],
      body: new Uint8Array([255, 0]),
      truncated: true,
    });
    expect(headerOf(reply, "x-call-id")).toBe("1");
  });

  test("the same as curl", () => {
    const gateway = "http://127.0.0.1:8080";
    expect(curlLine(call, gateway)).toBe(
      "curl -i -H 'Content-Type: text/plain' --data-binary hello 'http://127.0.0.1:8080/function/pay.dev/orders?page=2'",
    );
    expect(curlLine({ ...call, method: "PUT", path: "", headers: [["content-type", "a/b"]] }, gateway)).toBe(
      "curl -i -X PUT -H 'content-type: a/b' --data-binary hello http://127.0.0.1:8080/function/pay.dev",
    );
    expect(curlLine({ ...call, method: "GET", path: "", body: "" }, gateway)).toBe(
      "curl -i http://127.0.0.1:8080/function/pay.dev",
    );
    expect(curlLine({ ...call, method: "GET", path: "", body: "", queued: true }, gateway)).toBe(
      "curl -i -X POST http://127.0.0.1:8080/async-function/pay.dev",
    );
  });
});

const record = (second: number, text: string, instance = "pay-1-0"): LogRecord => ({
  name: "pay",
  namespace: "dev",
  instance,
  timestamp: `2026-01-31T12:00:${String(second).padStart(2, "0")}.000000000Z`,
  text: `${text}\n`,
});
const textsOf = (lines: ShownLines): readonly string[] => lines.lines.value.map(({ record: { text } }) => text.trim());

describe("ShownLines", () => {
  test("kept and live lines are in order, and none of them twice", () => {
    const lines = new ShownLines();

    lines.add([record(3, "c"), record(4, "d")]);
    lines.add([record(4, "d"), record(5, "e")]);
    lines.add([record(1, "a"), record(2, "b"), record(3, "c")]);

    expect(textsOf(lines)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("lines of one moment have names of their own", () => {
    const lines = new ShownLines();

    lines.add([record(1, "a"), record(1, "b"), record(1, "a", "pay-1-1")]);

    const keys = lines.lines.value.map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
    expect(keys.map(momentOfLine)).toEqual([1, 1, 1].map(() => Date.parse("2026-01-31T12:00:01Z")));
    expect(momentOfLine("nothing")).toBeUndefined();
  });

  test("a part of an address stands for the line it names, a malformed one for none", () => {
    const name = "2026-01-31T12:00:01.000000000Z~pay-1-0~2";
    expect(lineOfPart(encodeURIComponent(name))).toBe(name);
    expect([lineOfPart("%E0"), lineOfPart("2026-01-31T12:00:01Z%"), lineOfPart("")]).toEqual(["", "", ""]);
    expect(momentOfLine("2026-01-31T12:00:01Z%E0")).toBeUndefined();
  });

  test("the oldest go when there are too many", () => {
    const lines = new ShownLines();
    const many = (from: number): readonly LogRecord[] =>
      Array.from({ length: 15_000 }, (_, index) => ({
        ...record(0, String(from + index)),
        timestamp: new Date(from + index).toISOString(),
      }));

    lines.add(many(0));
    lines.add(many(15_000));

    expect(lines.lines.value).toHaveLength(18_000);
    expect(lines.dropped.value).toBe(12_000);
    expect(textsOf(lines)[0]).toBe("12000");
  });

  test("they are narrowed by replica and by text without its colours", () => {
    const lines = new ShownLines();
    lines.add([record(1, "\u001b[31mERR\u001b[0mor one"), record(2, "fine"), record(3, "error two", "pay-1-1")]);
    const shown = (replica: string, text: string): readonly string[] =>
      narrowLines(lines.lines.value, { replica, text }).map(({ plain }) => plain);

    expect(shown("", "Error")).toEqual(["error one", "error two"]);
    expect(shown("pay-1-1", "")).toEqual(["error two"]);
    expect(shown("", "")).toHaveLength(3);
  });

  test("a line without an end is cut, and says so", () => {
    const lines = new ShownLines();

    lines.add([record(1, "x".repeat(1_000_000))]);

    expect(lines.lines.value[0]?.plain.length).toBeLessThan(17_000);
    expect(lines.lines.value[0]?.plain).toContain("983616 more characters");
  });
});
