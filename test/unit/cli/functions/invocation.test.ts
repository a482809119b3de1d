import { describe, expect, test } from "vitest";

import { readInvocation, type InvokeFlags } from "../../../../runtime/cli/commands/functions/invocation.ts";

const id = "7F3C1D52-5C0E-4D7B-9A53-0F5D2F4F2F10";
const read = (options: Partial<InvokeFlags> = {}) => readInvocation("hello", { method: "POST", ...options });

describe("readInvocation()", () => {
  test("is a POST whose body is standard input, unless something else is said", () => {
    expect(read()).toEqual({
      target: { name: "hello", namespace: undefined, tail: "" },
      method: "POST",
      headers: {},
      bodySource: { data: undefined, file: undefined, byInput: true },
      head: false,
      id: undefined,
      queued: undefined,
    });
  });

  test.each([
    [{ method: "GET" }, false],
    [{ method: "HEAD" }, false],
    [{ method: "DELETE" }, true],
    [{ passwordStdin: true }, false],
  ])("takes standard input for the body with %j: %j", (options, byInput) => {
    expect(read(options).bodySource.byInput).toBe(byInput);
  });

  test("reads what a queued call has", () => {
    const headers = { "x-callback-url": "https://example.com/done", accept: "a" };
    const options = { async: true, callback: "https://example.com/done", header: ["Accept: a"], id };
    expect(read(options)).toMatchObject({ headers, id: id.toLowerCase(), queued: { wait: undefined } });
  });

  test.each([
    [true, 600_000],
    ["30s", 30_000],
    ["2", 2_000],
  ] as const)("waits with --wait=%j for %d ms", (wait, milliseconds) => {
    expect(read({ async: true, wait }).queued).toEqual({ wait: milliseconds });
  });

  test.each([
    [{ method: "get" }, 'Cannot use method "get": functions cannot be called with it; did you mean GET?'],
    [{ method: "TRACE" }, 'Cannot use method "TRACE": functions cannot be called with it'],
    [{ method: "A B" }, 'Cannot use method "A B": functions cannot be called with it'],
    [{ async: true, method: "PUT" }, "Cannot queue a call with --method PUT: it is a POST"],
    [{ wait: true }, "Cannot use --wait: only calls with --async have one"],
    [{ callback: "https://a" }, "Cannot use --callback: only calls with --async have one"],
    [{ async: true, callback: "https://a\r\nb: c" }, "Cannot use --callback"],
    [{ async: true, wait: "soon" }, 'Cannot use --wait "soon": it must be a duration'],
    [{ async: true, wait: "0" }, 'Cannot use --wait "0": it must be a duration'],
    [{ id: "42" }, 'Cannot use --id "42": the id of a call is a UUID'],
    [{ passwordStdin: true, file: "-" }, "Cannot read the body: standard input is the password"],
    [{ header: ["nothing"] }, 'Cannot send header "nothing"'],
  ] as const)("refuses %j", (options, sentence) => {
    expect(() => read(options)).toThrow(sentence);
  });
});
