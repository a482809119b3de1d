import { describe, expect, test } from "vitest";

import { logHistoryLine, reasonOfEnd } from "../../../../runtime/host/parts/history-lines.ts";
import type { Log } from "../../../../runtime/process/log.ts";

/** A log that notes what is written to it. */
function notedLog(): { readonly log: Log; readonly noted: unknown[] } {
  const noted: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => void noted.push([level, message, fields]);
  const log = Object.fromEntries(["trace", "debug", "info", "warn", "error"].map((level) => [level, write(level)]));
  return { log: log as unknown as Log, noted };
}

const line = (level: number, msg: string, fields: object = {}): string =>
  JSON.stringify({ level, time: "2026-01-01T00:00:00Z", name: "history", ...fields, msg });

describe("logHistoryLine()", () => {
  test.each([
    [20, "closed", "debug"],
    [30, "the broker is back", "info"],
    [40, "records of calls were missed", "warn"],
    [50, "cannot store the history of calls", "error"],
    [60, "cannot start", "error"],
  ])("writes level %i, %s, as %s", (level, msg, expected) => {
    const { log, noted } = notedLog();
    logHistoryLine(log, line(level, msg, { rows: 3 }));
    expect(noted).toEqual([[expected, msg, { rows: 3 }]]);
  });

  test.each(["history is ready", "stopping", "became leader"])("says %s for those who look closely", (msg) => {
    const { log, noted } = notedLog();
    logHistoryLine(log, line(30, msg));
    expect(noted).toEqual([["debug", msg, {}]]);
  });

  test.each(["Cannot start: port: expected a number", "[1]", "null", '{"level":"x"}'])(
    "passes on what is no line of a log: %s",
    (text) => {
      const { log, noted } = notedLog();
      logHistoryLine(log, text);
      expect(noted).toEqual([["warn", "the history process wrote", { line: text }]]);
    },
  );
});

describe("reasonOfEnd()", () => {
  test("is the error of the last line", () => {
    const fatal = line(60, "cannot start", { err: { message: "Cannot open history: it is of schema 7" } });
    expect(reasonOfEnd(fatal, "exit code 1")).toBe("Cannot open history: it is of schema 7");
    expect(reasonOfEnd(line(50, "closing took too long"), "exit code 1")).toBe("closing took too long");
  });

  test("is how it ended, if the last line says nothing of it", () => {
    expect(reasonOfEnd(line(30, "history is ready"), "SIGKILL")).toBe("SIGKILL");
    expect(reasonOfEnd(undefined, "exit code 1")).toBe("exit code 1");
  });

  test("is what it wrote before it had a log", () => {
    expect(reasonOfEnd("Cannot start: no such flag", "exit code 1")).toBe("Cannot start: no such flag");
  });
});
