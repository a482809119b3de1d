import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

const runtime = join(import.meta.dirname, "../../../runtime");

/** Modules that a file imports as it is loaded, without those that it loads when it needs them, or types. */
function importsOf(file: string): readonly string[] {
  return parseAst(readFileSync(file, "utf8"), { lang: "ts" }).body.flatMap((statement) => {
    switch (statement.type) {
      case "ImportDeclaration":
        return statement.importKind === "type" ? [] : [statement.source.value];
      case "ExportNamedDeclaration":
        return statement.source === null || statement.exportKind === "type" ? [] : [statement.source.value];
      default:
        return [];
    }
  });
}

/** The packages that a program loads when it starts, sorted. */
function packagesOf(program: string): readonly string[] {
  const packages = new Set<string>();
  const seen = new Set([join(runtime, program)]);
  for (const file of seen) {
    for (const name of importsOf(file)) {
      const path = join(dirname(file), name);
      if (name.startsWith(".") && existsSync(path)) seen.add(path);
      else if (!name.startsWith("node:") && !name.startsWith("#")) packages.add(name);
    }
  }
  return [...packages].toSorted();
}

test("the history process loads no client of a container engine, of a cluster or of a database: each takes megabytes", () => {
  expect(packagesOf("history/main.ts")).toEqual([
    "@nats-io/jetstream",
    "@nats-io/kv",
    "@nats-io/transport-node",
    "@nats-io/transport-node/lib/node_transport.js",
    "commander",
    "ipaddr.js",
    "pino",
    "prom-client",
    "yaml",
  ]);
});

test("the processes that read its files load no package", () => {
  expect(packagesOf("adapters/sqlite/calls/reader.ts")).toEqual([]);
  expect(packagesOf("adapters/sqlite/logs/log-reader.ts")).toEqual([]);
});
