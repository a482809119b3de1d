import { expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { functionNotFound, withNearestName } from "../../../../runtime/core/functions/function-not-found.ts";

const ref = { namespace: "functions", name: "helo" };
const missing = 'Cannot find function "helo": it does not exist in namespace "functions"';
const names: Readonly<Record<string, readonly string[]>> = { functions: ["figlet", "hello"], dev: ["helo"] };
const namesOf = (namespace: string) => names[namespace] ?? [];

test("the error names the function and its namespace", () => {
  expect(functionNotFound(ref)).toMatchObject({ code: "function_not_found", message: missing });
});

test("who may list functions gets the nearest name of the same namespace", () => {
  expect(withNearestName(functionNotFound(ref), namesOf)).toMatchObject({
    code: "function_not_found",
    message: `${missing}; did you mean "hello"?`,
  });
});

test("the error stays as it is where no name is near, or it is about something else", () => {
  const far = functionNotFound({ ...ref, name: "resize-image" });
  expect(withNearestName(far, namesOf)).toBe(far);
  for (const other of [new PlatformError("function_not_found", missing), new Error(missing), undefined])
    expect(withNearestName(other, namesOf)).toBe(other);
});
