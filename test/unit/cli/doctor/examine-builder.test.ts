import { expect, test } from "vitest";

import { examineBuilder } from "../../../../runtime/cli/doctor/examine-builder.ts";

const nothing = { environment: { PATH: "/nowhere" }, signal: new AbortController().signal };

test.each([
  ["process", "ok"],
  ["docker", "problem"],
  ["kubernetes", "problem"],
  [undefined, "warning"],
])("without a builder a gateway of %s is %s", async (orchestration, level) => {
  const found = await examineBuilder(nothing, orchestration);
  expect(found).toMatchObject({ id: "builder", level });
  if (level !== "ok") expect(found.sentence).toMatch(/^Cannot build images: no engine answers .*not installed/);
});

test("Ctrl-C is no finding", async () => {
  await expect(examineBuilder({ ...nothing, signal: AbortSignal.abort() }, "docker")).rejects.toThrow("Interrupted");
});
