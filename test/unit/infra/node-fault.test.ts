import { readFileSync } from "node:fs";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { nodeFault } from "../../../infra/node-fault.js";

test("with a Node.js that is too old the error says what is missing, and where it is", () => {
  expect(nodeFault("20.20.2")).toBe(
    'Cannot run the program on Node.js 20.20.2: it needs 24 or newer as "node" on PATH. One is in node_modules: PATH="$PWD/node_modules/.bin:$PATH" pulumi up',
  );
  for (const version of ["24.0.0", "26.10.0"]) expect(nodeFault(version)).toBeUndefined();
});

test("any Node.js can read what Pulumi runs first", () => {
  const { main } = parse(readFileSync("Pulumi.yaml", "utf8")) as { readonly main: string };
  expect(main).toBe("infra/main.js");
  const outputsOf = (path: string) => /export const \{([^}]*)\}/.exec(readFileSync(path, "utf8"))?.[1]?.trim();
  expect(outputsOf(main)).toBe(outputsOf("infra/index.ts"));
});
