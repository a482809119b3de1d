import { expect, test } from "vitest";

import type { NamespaceEntry } from "../../../runtime/core/ports/namespace-store.ts";
import { removeDeleted } from "../../../runtime/history/remove-deleted.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { eventually } from "../../support/eventually.ts";
import { MemoryKeptLogs } from "../../support/memory/memory-kept-logs.ts";

const entry = (name: string, over: Partial<NamespaceEntry> = {}): NamespaceEntry => ({
  name,
  labels: {},
  annotations: {},
  createdAt: "2026-01-31T12:00:00Z",
  deleting: false,
  ...over,
});

test("lines of namespaces that are gone, deleted or new are removed; the others and the default one stay", async () => {
  const kept = new MemoryKeptLogs();
  const write = (namespace: string, at: number) =>
    kept.append([
      { namespace, name: "f", instance: "a", timestamp: new Date(at).toISOString(), text: "x\n", number: 0 },
    ]);
  for (const namespace of ["functions", "gone", "going", "there", "again"]) await write(namespace, 1);
  let there = [entry("going", { deleting: true }), entry("there"), entry("again")];
  let looks = 0;
  let isAway = true;
  const stop = new AbortController();
  const namespaces = async (): Promise<readonly NamespaceEntry[]> => {
    looks += 1;
    if (isAway) throw new Error("the broker is away");
    return there;
  };
  const log = createLog("test", "fatal");
  const done = removeDeleted(
    {
      kept: () => kept.namespaces(),
      remove: (namespace) => kept.removeNamespace(namespace),
      namespaces: { list: namespaces },
      defaultNamespace: "functions",
      log,
      period: 5,
    },
    stop.signal,
  );

  await eventually(() => looks > 1, { what: "a look in vain" });
  expect(await kept.namespaces()).toHaveLength(5);
  isAway = false;
  await eventually(async () => (await kept.namespaces()).length === 3, { what: "the removal" });
  expect(await kept.namespaces()).toEqual(["again", "functions", "there"]);
  there = [entry("there"), entry("again", { createdAt: "2026-01-31T13:00:00Z" })];
  await eventually(async () => (await kept.namespaces()).length === 2, { what: "the removal of its predecessor" });
  await write("again", 2);
  const seen = looks;
  await eventually(() => looks > seen + 1, { what: "another look" });
  expect(await kept.namespaces()).toEqual(["again", "functions", "there"]);
  stop.abort();
  await done;
});

test("where it is not known which namespaces there are, none is removed", async () => {
  const asked: string[] = [];
  await removeDeleted(
    {
      kept: async () => (asked.push("kept"), ["dev"]),
      remove: async (namespace) => void asked.push(namespace),
      namespaces: undefined,
      defaultNamespace: "functions",
      log: createLog("test", "fatal"),
    },
    new AbortController().signal,
  );
  expect(asked).toEqual([]);
});
