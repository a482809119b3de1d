import pino from "pino";
import { expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { functionNotFound, withNearestName } from "../../../../runtime/core/functions/function-not-found.ts";
import { logUnknownCalls } from "../../../../runtime/gateway/calls/unknown-calls.ts";

const namesOf = (namespace: string): readonly string[] => (namespace === "functions" ? ["hello", "figlet"] : ["greet"]);

/** What is logged when calls to `targets` fail with `code`, `pause` milliseconds after each other. */
function logged(
  targets: readonly string[],
  pause = 1_000,
  code: "function_not_found" | "forbidden" = "function_not_found",
) {
  const lines: unknown[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let time = 0;
  const onCallError = logUnknownCalls({
    log,
    namesOf,
    defaultNamespace: "functions",
    aliases: ["openfaas-fn"],
    now: () => time,
  });
  for (const target of targets) {
    onCallError(target, new PlatformError(code, "Cannot call"));
    time += pause;
  }
  return lines;
}

test("a call of an unknown function is logged with the nearest name of its namespace", () => {
  const targets = [
    "/function/helo?x=1",
    "/async-function/figlte.openfaas-fn/a",
    "/function/gret.dev",
    "/function/hello.dev",
  ];
  expect(logged(targets)).toMatchObject([
    { functionName: "helo", namespace: "functions", near: "hello" },
    { functionName: "figlte", namespace: "functions", near: "figlet" },
    { functionName: "gret", namespace: "dev", near: "greet" },
  ]);
});

test("at most one is logged a second, and none of other failures or of invalid names", () => {
  expect(logged(["/function/helo", "/function/helo", "/function/helo"], 500)).toHaveLength(2);
  expect(logged(["/function/helo"], 0, "forbidden")).toEqual([]);
  expect(logged(["/function/HELO", "/function/", "/nope"])).toEqual([]);
});

test("names far from all others do not keep a near one out of the log, and few are compared each second", () => {
  const far = (count: number): string[] => Array.from({ length: count }, (_, index) => `/function/far-away-${index}`);
  expect(logged([...far(10), "/function/helo"], 1)).toHaveLength(1);
  expect(logged([...far(1_000), "/function/helo"], 0)).toEqual([]);
});

test("withNearestName() adds the name to errors about missing functions, and to no others", () => {
  const err = withNearestName(functionNotFound({ name: "helo", namespace: "functions" }), namesOf);
  expect(err).toMatchObject({
    code: "function_not_found",
    message: 'Cannot find function "helo": it does not exist in namespace "functions"; did you mean "hello"?',
  });
  const far = functionNotFound({ name: "other", namespace: "functions" });
  expect(withNearestName(far, namesOf)).toBe(far);
  const other = new PlatformError("function_not_found", "Cannot call");
  expect(withNearestName(other, namesOf)).toBe(other);
});
