import { expect, test } from "vitest";

import type { DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import type { FunctionStore } from "../../runtime/core/ports/function-store.ts";
import { eventually } from "../support/eventually.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

export interface OpenFunctionStore extends TestNamespaces {
  readonly store: FunctionStore;
  close(): Promise<void>;
}

/** An open store and its namespaces. */
interface Opened {
  readonly store: FunctionStore;
  readonly hello: FunctionRef;
  readonly namespace: string;
  readonly other: string;
  caughtUp(): Promise<void>;
}

const now = "2026-01-01T00:00:00.000Z";

function desired(ref: FunctionRef, generation: number, replicas = 1): DesiredFunction {
  const deployment = {
    service: ref.name,
    namespace: ref.namespace,
    image: "example/image:1",
    labels: { "com.service.scale.zero": "true" },
  };
  return { ...ref, deployment, replicas, generation, createdAt: now, updatedAt: now };
}

/** What every `FunctionStore` promises; each test opens one that is empty. */
export function functionStoreContract(open: () => Promise<OpenFunctionStore>): void {
  const opened = (name: string, body: (opened: Opened) => Promise<void>): void => {
    test(name, async () => {
      const made = await open();
      const [namespace, other] = namespacesOf(made);
      const caughtUp = async (): Promise<void> => made.caughtUp?.();
      try {
        await body({ store: made.store, hello: { namespace, name: "hello" }, namespace, other, caughtUp });
      } finally {
        await made.close();
      }
    });
  };

  opened("get() and list() see a write as soon as it resolves", async ({ store, hello, namespace }) => {
    const written = await store.write(hello, () => desired(hello, 1));

    expect(written).toEqual(desired(hello, 1));
    expect(await store.get(hello)).toEqual(desired(hello, 1));
    expect(await store.list(namespace)).toEqual([desired(hello, 1)]);
  });

  opened("get() returns undefined for what is not there", async ({ store, hello, namespace }) => {
    expect(await store.get(hello)).toBeUndefined();
    expect(await store.list(namespace)).toEqual([]);
  });

  opened("list() sorts by name and keeps namespaces apart", async ({ store, namespace, other }) => {
    for (const name of ["b", "a-1", "a", "c"]) {
      const ref = { namespace, name };
      await store.write(ref, () => desired(ref, 1));
    }
    const elsewhere = { namespace: other, name: "a" };
    await store.write(elsewhere, () => desired(elsewhere, 1));

    expect((await store.list(namespace)).map(({ name }) => name)).toEqual(["a", "a-1", "b", "c"]);
    expect((await store.list(other)).map(({ name }) => name)).toEqual(["a"]);
  });

  opened("write() passes the current value to the change", async ({ store, hello }) => {
    await store.write(hello, (current) => desired(hello, (current?.generation ?? 0) + 1));
    await store.write(hello, (current) => desired(hello, (current?.generation ?? 0) + 1));

    expect((await store.get(hello))?.generation).toBe(2);
  });

  opened("write() loses no change among concurrent writes", async ({ store, hello }) => {
    const writes = Array.from({ length: 10 }, () =>
      store.write(hello, (current) => desired(hello, (current?.generation ?? 0) + 1)),
    );
    await Promise.all(writes);

    expect((await store.get(hello))?.generation).toBe(10);
  });

  opened("write() stores nothing when the change throws", async ({ store, hello }) => {
    await store.write(hello, () => desired(hello, 1));
    const refused = store.write(hello, () => {
      throw new RangeError("no");
    });

    await expect(refused).rejects.toThrow(new RangeError("no"));
    expect(await store.get(hello)).toEqual(desired(hello, 1));
  });

  opened("a replica count keeps its reason and its hold until a change drops them", async ({ store, hello }) => {
    const scaled = { reason: "Requested", message: "Scaled to 3 by request", at: now };
    const hold = { by: "scale-function", until: "2026-01-01T00:05:00.000Z" } as const;
    const asked = { ...desired(hello, 1, 3), scaled, hold };
    await store.write(hello, () => desired(hello, 1));
    expect(await store.write(hello, () => asked)).toEqual(asked);
    expect(await store.get(hello)).toEqual(asked);
    await store.write(hello, () => ({ ...asked, hold: undefined }));

    expect((await store.get(hello))?.hold).toBeUndefined();
    expect((await store.get(hello))?.scaled).toEqual(scaled);
  });

  opened("remove() says whether there was something, and it can be written again", async ({ store, hello }) => {
    await store.write(hello, () => desired(hello, 5));

    expect(await store.remove(hello)).toBe(true);
    expect(await store.remove(hello)).toBe(false);
    expect(await store.get(hello)).toBeUndefined();
    await store.write(hello, (current) => desired(hello, (current?.generation ?? 0) + 1));
    expect((await store.get(hello))?.generation).toBe(1);
  });

  opened(
    "watch() reports what exists, then synced, then each change in order",
    async ({ store, hello, namespace, caughtUp }) => {
      const events: string[] = [];
      await store.write(hello, () => desired(hello, 1));
      await caughtUp();
      const stop = await store.watch({
        set: (entry) => events.push(`set ${formatRef(entry)} ${entry.generation}`),
        removed: (ref) => events.push(`removed ${formatRef(ref)}`),
        synced: () => events.push("synced"),
      });
      expect(events).toEqual([`set hello.${namespace} 1`, "synced"]);

      await store.write(hello, () => desired(hello, 2));
      await store.remove(hello);
      await store.write(hello, () => desired(hello, 1));
      await eventually(() => events.length === 5, { what: "three changes" });
      expect(events.slice(2)).toEqual([
        `set hello.${namespace} 2`,
        `removed hello.${namespace}`,
        `set hello.${namespace} 1`,
      ]);
      stop();
    },
  );

  opened("watch() of an empty store is synced at once, and ends when stopped", async ({ store, hello }) => {
    const events: string[] = [];
    const otherEvents: string[] = [];
    const observer = (to: string[]) => ({
      set: (entry: DesiredFunction) => void to.push(entry.name),
      removed: () => void to.push("removed"),
      synced: () => void to.push("synced"),
    });
    const stop = await store.watch(observer(events));
    const stopOther = await store.watch(observer(otherEvents));
    stop();
    await store.write(hello, () => desired(hello, 1));
    await eventually(() => otherEvents.includes("hello"), { what: "the other observer" });

    expect(events).toEqual(["synced"]);
    stopOther();
  });
}
