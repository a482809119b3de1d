import { expect, test } from "vitest";

import { MemoryFunctionStore } from "../../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../../support/memory/memory-namespace-store.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { countFunctions } from "../../../runtime/host/count-functions.ts";

test("counts the functions of every namespace once, also of the default one without an entry", async () => {
  const [functions, namespaces] = [new MemoryFunctionStore(), new MemoryNamespaceStore()];
  const createdAt = "2026-01-01T00:00:00Z";
  const deploy = (namespace: string, name: string) =>
    functions.write({ namespace, name }, (current) =>
      desireFunction(current, namespace, { service: name, image: "none" }, createdAt),
    );
  expect(await countFunctions(functions, namespaces, "functions")).toBe(0);

  for (const name of ["a", "b"]) await deploy("functions", name);
  await deploy("dev", "a");
  for (const name of ["dev", "functions"])
    await namespaces.write(name, () => ({ name, labels: {}, annotations: {}, createdAt, deleting: name === "dev" }));
  expect(await countFunctions(functions, namespaces, "functions")).toBe(3);
});
