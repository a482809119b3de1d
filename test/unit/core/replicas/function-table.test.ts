import { describe, expect, test } from "vitest";

import { desireFunction, type DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../../../runtime/core/replicas/function-table.ts";
import { pickReplica } from "../../../../runtime/core/replicas/pick-replica.ts";
import type { FunctionEndpoints } from "../../../../runtime/core/ports/endpoints.ts";

const wanted = (name: string, namespace = "functions"): DesiredFunction =>
  desireFunction(undefined, namespace, { service: name, image: "none" }, "2026-01-01T00:00:00Z");
const endpoints = (name: string, addresses: readonly string[], namespace = "functions"): FunctionEndpoints => ({
  name,
  namespace,
  addresses,
  observedGeneration: 1,
  conditions: [],
});
const open = (): FunctionTable => new FunctionTable({ defaultNamespace: "functions", aliases: ["openfaas-fn"] });

describe("FunctionTable", () => {
  test("finds a function of the default namespace by name, full name and alias", () => {
    const table = open();
    table.functionObserver.set(wanted("hello"));

    for (const key of ["hello", "hello.functions", "hello.openfaas-fn"])
      expect(table.findKey(key)?.key).toBe("hello.functions");
    expect(table.find("hello", undefined)?.key).toBe("hello.functions");
    expect(table.find("hello", "openfaas-fn")?.key).toBe("hello.functions");
    for (const key of ["", "hello.", ".functions", "hello.dev", "Hello", "__proto__", "constructor"]) {
      expect(table.findKey(key)).toBeUndefined();
    }
  });

  test("finds a function of another namespace only by its full name", () => {
    const table = open();
    table.functionObserver.set(wanted("hello", "dev"));

    expect(table.findKey("hello")).toBeUndefined();
    expect(table.findKey("hello.dev")?.ref).toEqual({ name: "hello", namespace: "dev" });
  });

  test("a namespace with the name of an alias outranks it while it exists", () => {
    const usable = new Set<string>();
    const table = new FunctionTable({
      defaultNamespace: "functions",
      aliases: ["openfaas-fn"],
      isUsable: (name) => usable.has(name),
    });
    for (const [name, namespace] of [["hello"], ["hello", "openfaas-fn"], ["other"]] as const)
      table.functionObserver.set(wanted(name, namespace));
    expect(table.findKey("hello.openfaas-fn")?.key).toBe("hello.functions");

    usable.add("openfaas-fn");
    table.reindex("openfaas-fn");
    expect(table.findKey("hello.openfaas-fn")?.key).toBe("hello.openfaas-fn");
    expect(table.findKey("other.openfaas-fn")).toBeUndefined();
    table.functionObserver.set(wanted("late"));
    expect(table.findKey("late.openfaas-fn")).toBeUndefined();
    for (const key of ["hello", "hello.functions", "late"]) expect(table.findKey(key)?.ref.namespace).toBe("functions");

    usable.clear();
    table.reindex("openfaas-fn");
    for (const name of ["hello", "other", "late"])
      expect(table.findKey(`${name}.openfaas-fn`)?.key).toBe(`${name}.functions`);
  });

  test("functions of a namespace are found only while it is usable, and stay in the table", () => {
    const usable = new Set(["dev"]);
    const table = new FunctionTable({
      defaultNamespace: "functions",
      aliases: [],
      isUsable: (name) => usable.has(name),
    });
    table.functionObserver.set(wanted("hello", "dev"));
    table.functionObserver.set(wanted("hello", "qa"));
    expect(table.findKey("hello.dev")).toBeDefined();
    expect(table.findKey("hello.qa")).toBeUndefined();

    usable.add("qa");
    usable.delete("dev");
    for (const name of ["dev", "qa"]) table.reindex(name);
    expect(table.findKey("hello.dev")).toBeUndefined();
    expect(table.findKey("hello.qa")).toBeDefined();
    expect([...table.entries()]).toHaveLength(2);
  });

  test("lists the names of one namespace, for the nearest to a misspelt one", () => {
    const table = open();
    for (const [name, namespace] of [["hello"], ["figlet", "dev"], ["ocr"]] as const)
      table.functionObserver.set(wanted(name, namespace));
    expect([...table.names("functions")]).toEqual(["hello", "ocr"]);
    expect([...table.names("dev")]).toEqual(["figlet"]);
    expect([...table.names("qa")]).toEqual([]);
  });

  test("accepts functions and endpoints in either order", () => {
    const table = open();
    table.endpointsObserver.set(endpoints("early", ["a:1"]));
    table.functionObserver.set(wanted("early"));
    table.functionObserver.set(wanted("late"));
    table.endpointsObserver.set(endpoints("late", ["b:1"]));

    expect(table.findKey("early")?.replicas.map(({ address }) => address)).toEqual(["a:1"]);
    expect(table.findKey("late")?.replicas.map(({ address }) => address)).toEqual(["b:1"]);
  });

  test("counts of calls in flight survive changes of endpoints and of the function", () => {
    const table = open();
    table.functionObserver.set(wanted("hello"));
    table.endpointsObserver.set(endpoints("hello", ["a:1", "b:1"]));
    const entry = table.findKey("hello");
    const replica = entry?.replicas[0];
    if (entry === undefined || replica === undefined) throw new Error("not there");
    replica.inFlight = 3;

    table.endpointsObserver.set(endpoints("hello", ["c:1", "a:1"]));
    table.functionObserver.set(wanted("hello"));

    expect(table.findKey("hello")).toBe(entry);
    expect(entry.replicas).toEqual([
      { address: "c:1", name: "c:1", inFlight: 0 },
      { address: "a:1", name: "a:1", inFlight: 3 },
    ]);
    expect(entry.replicas[1]).toBe(replica);
  });

  test("a replica has the name that its log has, as soon as that is known", () => {
    const table = open();
    table.functionObserver.set(wanted("hello"));
    table.endpointsObserver.set({ ...endpoints("hello", ["a:1", "b:1"]), names: { "a:1": "hello-a" } });
    const names = () => table.findKey("hello")?.replicas.map(({ name }) => name);
    const before = table.findKey("hello")?.replicas;
    expect(names()).toEqual(["hello-a", "b:1"]);
    table.endpointsObserver.set({
      ...endpoints("hello", ["a:1", "b:1"]),
      names: { "a:1": "hello-a", "b:1": "hello-b" },
    });
    expect(names()).toEqual(["hello-a", "hello-b"]);
    expect(table.findKey("hello")?.replicas[1]).toBe(before?.[1]);
  });

  test("reports changed replicas, addresses that are gone and removed functions", () => {
    const table = open();
    const events: string[] = [];
    table.onReplicas((entry) => events.push(`replicas ${entry.replicas.length}`));
    table.onGone((address) => events.push(`gone ${address}`));
    table.onRemoved((entry) => events.push(`removed ${entry.key}`));

    table.functionObserver.set(wanted("hello"));
    table.endpointsObserver.set(endpoints("hello", ["a:1"]));
    table.endpointsObserver.set(endpoints("hello", ["b:1"]));
    table.functionObserver.removed({ name: "hello", namespace: "functions" });

    expect(events).toEqual([
      "replicas 1",
      "replicas 1",
      "gone a:1",
      "replicas 0",
      "gone b:1",
      "removed hello.functions",
    ]);
    expect(table.findKey("hello")).toBeUndefined();
    expect([...table.entries()]).toEqual([]);
  });

  test("the removal of an unknown function is not reported", () => {
    const table = open();
    const events: string[] = [];
    table.onRemoved((entry) => events.push(entry.key));
    table.functionObserver.removed({ name: "never", namespace: "functions" });
    table.endpointsObserver.removed({ name: "never", namespace: "functions" });
    expect(events).toEqual([]);
  });

  test("removed endpoints remove the replicas, also for a function that is created again", () => {
    const table = open();
    table.functionObserver.set(wanted("hello"));
    table.endpointsObserver.set(endpoints("hello", ["a:1"]));
    table.endpointsObserver.removed({ name: "hello", namespace: "functions" });
    expect(table.findKey("hello")).toMatchObject({ replicas: [], endpoints: undefined });
    table.functionObserver.removed({ name: "hello", namespace: "functions" });
    table.functionObserver.set(wanted("hello"));
    expect(table.findKey("hello")?.replicas).toEqual([]);
  });

  test("an address that stays is not reported as gone", () => {
    const table = open();
    const gone: string[] = [];
    table.onGone((address) => gone.push(address));
    table.functionObserver.set(wanted("hello"));
    table.endpointsObserver.set(endpoints("hello", ["a:1", "b:1"]));
    table.endpointsObserver.set(endpoints("hello", ["b:1", "c:1"]));
    expect(gone).toEqual(["a:1"]);
  });

  test("a name is looked up in the given namespace", () => {
    const table = open();
    table.functionObserver.set(wanted("hello"));
    table.functionObserver.set(wanted("hello", "dev"));
    expect(table.find("hello", "dev")?.key).toBe("hello.dev");
    expect(table.find("hello", "qa")).toBeUndefined();
  });

  test("removing a function keeps the same name in a real namespace of its alias", () => {
    const table = new FunctionTable({
      defaultNamespace: "functions",
      aliases: ["openfaas-fn"],
      isUsable: (name) => name === "openfaas-fn",
    });
    table.functionObserver.set(wanted("hello"));
    table.functionObserver.set(wanted("hello", "openfaas-fn"));
    table.functionObserver.removed({ name: "hello", namespace: "functions" });
    expect(table.findKey("hello.openfaas-fn")?.key).toBe("hello.openfaas-fn");
  });

  test("is synced once both watches are", () => {
    const other = open();
    other.endpointsObserver.synced();
    expect(other.synced).toBe(false);
    const table = open();
    table.functionObserver.synced();
    expect(table.synced).toBe(false);
    table.endpointsObserver.synced();
    expect(table.synced).toBe(true);
  });
});

describe("pickReplica()", () => {
  const choice = (...inFlight: number[]) => ({
    replicas: inFlight.map((count, index) => ({ address: `r${index}`, name: "", inFlight: count })),
    turn: 0,
  });

  test("picks the one with the fewest calls in flight", () => {
    expect(pickReplica(choice(3, 1, 2))?.address).toBe("r1");
  });

  test("equals take turns", () => {
    const equal = choice(1, 1, 1);
    expect(Array.from({ length: 4 }, () => pickReplica(equal)?.address)).toEqual(["r0", "r1", "r2", "r0"]);
  });

  test("picks none at the limit, none but the excluded one, and none when there is none", () => {
    expect(pickReplica(choice(2, 2), 2)).toBeUndefined();
    expect(pickReplica(choice(2, 1), 2)?.address).toBe("r1");
    const one = choice(0);
    expect(pickReplica(one, 0, one.replicas[0])).toBeUndefined();
    expect(pickReplica(choice())).toBeUndefined();
  });
});

test("a pick that finds none does not change the turn", () => {
  const full = {
    replicas: [
      { address: "a", name: "", inFlight: 1 },
      { address: "b", name: "", inFlight: 1 },
    ],
    turn: 0,
  };
  expect(pickReplica(full, 1)).toBeUndefined();
  expect(pickReplica(full)?.address).toBe("a");
});
