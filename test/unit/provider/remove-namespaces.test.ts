import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { MemoryEndpoints } from "../../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../../support/memory/memory-namespace-store.ts";
import { MemoryReplicas } from "../../support/memory/memory-replicas.ts";
import { MemorySecretStore } from "../../support/memory/memory-secret-store.ts";
import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { buildProvider, type Provider } from "../../../runtime/provider/build-provider.ts";
import { eventually } from "../../support/eventually.ts";

const at = "2026-01-01T00:00:00.000Z";
const steps = ["forgetNamespace", "removeAll", "remove"] as const;
type Step = (typeof steps)[number];

/** Records steps; the one named in `dies` never resolves, as if the process ended in it. */
class Journal {
  readonly done: Step[] = [];
  dies: Step | undefined;
  async through(step: Step, act: () => Promise<void>): Promise<void> {
    if (this.dies === step) return await new Promise(() => {});
    await act();
    this.done.push(step);
  }
}

let journal: Journal;
class Replicas extends MemoryReplicas {
  override forgetNamespace(namespace: string): Promise<void> {
    return journal.through("forgetNamespace", () => super.forgetNamespace(namespace));
  }
}
class Secrets extends MemorySecretStore {
  override removeAll(namespace: string): Promise<void> {
    return journal.through("removeAll", () => super.removeAll(namespace));
  }
}
class Namespaces extends MemoryNamespaceStore {
  override remove(name: string): Promise<void> {
    return journal.through("remove", () => super.remove(name));
  }
}

let functions: MemoryFunctionStore;
let namespaces: Namespaces;
let secrets: Secrets;
let endpoints: MemoryEndpoints;
let replicas: Replicas;
let provider: Provider;

const build = (): Provider =>
  buildProvider({
    functions,
    namespaces,
    secrets,
    replicas,
    endpoints,
    prober: { probe: async () => ({ kind: "passed" }) },
    gatewayUrl: "http://gateway",
    secretsDirectory: () => "/secrets",
    upstreamTimeout: 1_000,
    log: createLog("test", "silent"),
  });
const deploy = (namespace: string) =>
  functions.write({ namespace, name: "hello" }, (current) =>
    desireFunction(current, namespace, { service: "hello", image: "none" }, at),
  );
const mark = (deleting: boolean) =>
  namespaces.write("dev", () => ({ name: "dev", labels: {}, annotations: {}, createdAt: at, deleting }));
const running = async (namespace: string): Promise<number> =>
  (await replicas.list()).filter((replica) => replica.namespace === namespace).length;
const gone = () => eventually(async () => (await namespaces.get("dev")) === undefined, { what: "dev to be gone" });

beforeEach(async () => {
  journal = new Journal();
  functions = new MemoryFunctionStore();
  namespaces = new Namespaces();
  secrets = new Secrets();
  endpoints = new MemoryEndpoints();
  replicas = new Replicas();
  provider = build();
  await mark(false);
  for (const namespace of ["dev", "functions"]) {
    await deploy(namespace);
    await secrets.create({ namespace, name: "key" }, Buffer.from("value"));
  }
  await provider.open();
  await eventually(
    async () => (await endpoints.list()).filter(({ addresses }) => addresses.length === 1).length === 2,
    {
      what: "both functions",
    },
  );
});
afterEach(() => provider.close());

describe("a namespace marked for deletion", () => {
  test("waits for its functions, then is removed with all it had, its entry last", async () => {
    await mark(true);
    expect(await running("dev")).toBe(1);
    await functions.remove({ namespace: "dev", name: "hello" });
    await gone();

    expect(journal.done).toEqual(steps);
    expect(replicas.forgotten).toEqual([{ namespace: "dev", name: "hello" }]);
    expect(replicas.forgottenNamespaces).toEqual(["dev"]);
    expect([await running("dev"), await running("functions")]).toEqual([0, 1]);
    expect([await secrets.list("dev"), await secrets.list("functions")]).toEqual([[], ["key"]]);
    expect((await endpoints.list()).map(({ namespace }) => namespace)).toEqual(["functions"]);
  });

  test.each(steps)("is removed after a restart when the provider ended in %s", async (step) => {
    journal.dies = step;
    await mark(true);
    await functions.remove({ namespace: "dev", name: "hello" });
    await eventually(() => journal.done.length === steps.indexOf(step) && running("dev").then((count) => count === 0), {
      what: `the steps before ${step}`,
    });
    expect(await namespaces.get("dev")).toMatchObject({ deleting: true });

    journal.dies = undefined;
    // The previous provider hangs for good; like a killed one it is not closed.
    provider = build();
    await provider.open();
    await gone();
    expect(await secrets.list("dev")).toEqual([]);
  });

  test("is removed after a restart when its functions were deleted meanwhile", async () => {
    await provider.close();
    await mark(true);
    await functions.remove({ namespace: "dev", name: "hello" });
    provider = build();
    await provider.open();
    await gone();

    expect(await running("dev")).toBe(0);
    expect(replicas.forgottenNamespaces).toEqual(["dev"]);
  });

  test("is removed when a step fails at first", async () => {
    let failures = 1;
    const removeAll = secrets.removeAll.bind(secrets);
    secrets.removeAll = async (namespace) => {
      if (failures-- > 0) throw new Error("disk full");
      await removeAll(namespace);
    };
    await mark(true);
    await functions.remove({ namespace: "dev", name: "hello" });
    await gone();
  });
});
