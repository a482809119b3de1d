import { expect, test } from "vitest";

import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { Replica, Replicas, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenReplicas {
  readonly replicas: Replicas;
  /** Lets the replica end by itself. */
  end(replica: Replica): Promise<void>;
  close(): Promise<void>;
}

const hello: FunctionRef = { namespace: "functions", name: "hello" };

/** A function that replies with the body it gets. */
export function echoSpec(ref: FunctionRef = hello, generation = 1): ReplicaSpec {
  return {
    ...ref,
    generation,
    image: "example/echo:1",
    envProcess: "cat",
    environment: { fprocess: "cat" },
    secrets: [],
    limits: {},
    requests: {},
    readOnlyRootFilesystem: false,
    grace: 2_000,
  };
}

/** What every `Replicas` promises; each test opens one where nothing runs. */
export function replicasContract(open: () => Promise<OpenReplicas>): void {
  const opened = (name: string, body: (opened: OpenReplicas) => Promise<void>): void => {
    test(name, async () => {
      const all = await open();
      try {
        await body(all);
      } finally {
        await all.close();
      }
    });
  };
  const find = async (replicas: Replicas, id: string): Promise<Replica | undefined> =>
    (await replicas.list()).find((replica) => replica.id === id);
  const running = (replicas: Replicas, id: string): Promise<Replica> =>
    eventually(
      async () => {
        const found = await find(replicas, id);
        return found?.state === "running" ? found : undefined;
      },
      { what: "a running replica" },
    );

  opened("start() creates a replica that begins to run and then has an address", async ({ replicas }) => {
    const started = await replicas.start(echoSpec(hello, 7));
    expect(started).toMatchObject({ ...hello, generation: 7, failure: undefined });
    expect(started.id).toMatch(/^[a-z0-9][-a-z0-9]{0,100}$/);

    expect((await running(replicas, started.id)).address).toMatch(/^\S+:\d+$|^unix:\/\S+$/);
  });

  opened("replicas of one function have different ids and addresses", async ({ replicas }) => {
    const [one, other] = [await replicas.start(echoSpec()), await replicas.start(echoSpec())];
    expect(one.id).not.toBe(other.id);

    expect((await running(replicas, one.id)).address).not.toBe((await running(replicas, other.id)).address);
  });

  opened("stop() leaves nothing of a replica, and ignores an unknown one", async ({ replicas }) => {
    const { id } = await replicas.start(echoSpec());
    await running(replicas, id);
    await replicas.stop(id);
    await replicas.stop(id);
    await replicas.stop("never-there");

    expect(await replicas.list()).toEqual([]);
  });

  opened("stop() right after start() leaves nothing either", async ({ replicas }) => {
    const { id } = await replicas.start(echoSpec());
    await replicas.stop(id);

    expect(await replicas.list()).toEqual([]);
  });

  opened("a replica that ended stays listed, with its failure, until it is stopped", async ({ replicas, end }) => {
    const { id } = await replicas.start(echoSpec());
    await end(await running(replicas, id));
    const ended = await eventually(
      async () => {
        const found = await find(replicas, id);
        return found?.state === "exited" ? found : undefined;
      },
      { what: "the end" },
    );
    expect(ended.failure?.reason).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(ended.failure?.message).not.toBe("");
    await replicas.stop(id);

    expect(await replicas.list()).toEqual([]);
  });

  opened("onChange() reports which function changed, until it is ended", async ({ replicas, end }) => {
    const changes: string[] = [];
    const stop = replicas.onChange((ref) => changes.push(formatRef(ref)));
    const { id } = await replicas.start(echoSpec());
    const replica = await running(replicas, id);
    await eventually(() => changes.length > 0, { what: "a change" });
    expect(changes).toContain("hello.functions");
    stop();
    const before = changes.length;
    await end(replica);
    await eventually(async () => (await find(replicas, id))?.state === "exited", { what: "the end" });

    expect(changes.length).toBe(before);
  });

  opened("check() resolves while replicas can be started", async ({ replicas }) => {
    await replicas.check();
  });

  opened("after close() nothing can be started", async ({ replicas }) => {
    await replicas.start(echoSpec());
    await replicas.close();

    await expect(replicas.check()).rejects.toMatchObject({ code: "provider_unavailable" });
    await expect(replicas.start(echoSpec())).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(await replicas.list()).toEqual([]);
  });

  opened("forget() removes what a function leaves, and ignores one that left nothing", async ({ replicas }) => {
    const { id } = await replicas.start(echoSpec());
    await replicas.stop(id);
    await replicas.forget(hello);
    await replicas.forget(hello);
    await replicas.start(echoSpec());
  });

  opened("orphans() lists functions of which something is left, until forget()", async ({ replicas }) => {
    const { id } = await replicas.start(echoSpec());
    await running(replicas, id);
    await eventually(async () => (await replicas.orphans()).length <= 1, { what: "no other function" });
    await replicas.stop(id);
    await replicas.forget(hello);

    expect(await replicas.orphans()).toEqual([]);
  });

  opened("forgetNamespace() removes what it leaves, and ignores one that left nothing", async ({ replicas }) => {
    const { id } = await replicas.start(echoSpec());
    await replicas.stop(id);
    await replicas.forget(hello);
    await replicas.forgetNamespace(hello.namespace);
    await replicas.forgetNamespace("never-there");
    await running(replicas, (await replicas.start(echoSpec())).id);
  });
}
