import { describe, expect, test } from "vitest";

import { parseKeptLogQuery } from "../../../../runtime/core/replicas/log-query.ts";

const call = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const until = "2026-01-31T12:00:00Z";
const refusal = (message: string) => expect.objectContaining({ code: "log_query_invalid", message });

describe("parseKeptLogQuery()", () => {
  test("absent and empty parameters select nothing beside the log", () => {
    const nothing = { until: undefined, history: false, call: undefined };
    expect(parseKeptLogQuery({})).toEqual(nothing);
    expect(parseKeptLogQuery({ until: "", history: "maybe", call: "", follow: "maybe" })).toEqual(nothing);
  });

  test("each parameter selects lines by itself", () => {
    expect(parseKeptLogQuery({ until })).toEqual({
      until: Date.UTC(2026, 0, 31, 12),
      history: false,
      call: undefined,
    });
    expect(parseKeptLogQuery({ history: "1" })).toEqual({ until: undefined, history: true, call: undefined });
    expect(parseKeptLogQuery({ call: call.toUpperCase() })).toEqual({ until: undefined, history: false, call });
  });

  test("what cannot be read is refused by name", () => {
    expect(() => parseKeptLogQuery({ call: "7" })).toThrow(
      refusal('Cannot read call "7": expected the id of a call, a UUID'),
    );
    expect(() => parseKeptLogQuery({ until: "noon" })).toThrow(
      refusal('Cannot read until "noon": expected a time such as 2026-01-31T12:00:00Z'),
    );
  });

  test.each([
    [{ until }, "until"],
    [{ call }, "call"],
    [{ until, call }, "until"],
  ])("a log with an end is not followed: %j", (bounds, named) => {
    expect(() => parseKeptLogQuery({ ...bounds, follow: "true" })).toThrow(
      refusal(`Cannot follow a log with ${named}: leave out follow or ${named}`),
    );
    for (const follow of ["false", "maybe"]) expect(() => parseKeptLogQuery({ ...bounds, follow })).not.toThrow();
  });

  test("a log without an end may be followed, kept lines included", () => {
    expect(parseKeptLogQuery({ history: "true", follow: "true" }).history).toBe(true);
  });
});
