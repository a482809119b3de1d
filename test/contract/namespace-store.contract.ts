import { expect, test } from "vitest";

import type { NamespaceEntry, NamespaceStore } from "../../runtime/core/ports/namespace-store.ts";
import { eventually } from "../support/eventually.ts";

export interface OpenNamespaceStore {
  readonly store: NamespaceStore;
  /** Precedes each name where several tests share one place; absent: nothing. */
  readonly prefix?: string;
  /** Resolves when the store's watch has seen every write; absent: it has when a write resolves. */
  caughtUp?(): Promise<void>;
  close(): Promise<void>;
}

const entry = (name: string, over: Partial<NamespaceEntry> = {}): NamespaceEntry => ({
  name,
  annotations: {},
  createdAt: "2026-01-01T00:00:00.000Z",
  deleting: false,
  ...over,
  labels: { "com.service.namespace": "1", ...over.labels },
});

/** What every `NamespaceStore` promises; each test opens one that is empty. */
export function namespaceStoreContract(open: () => Promise<OpenNamespaceStore>): void {
  const opened = (name: string, body: (opened: Required<OpenNamespaceStore>) => Promise<void>): void => {
    test(name, async () => {
      const { store, prefix = "", ...rest } = await open();
      const caughtUp = async (): Promise<void> => rest.caughtUp?.();
      try {
        await body({ store, prefix, caughtUp, close: rest.close });
      } finally {
        await rest.close();
      }
    });
  };

  opened("get() and list() see a write as soon as it resolves, list() sorted", async ({ store, prefix }) => {
    const [a, a1, b] = [`${prefix}a`, `${prefix}a-1`, `${prefix}b`];
    for (const name of [b, a1, a]) expect(await store.write(name, () => entry(name))).toEqual(entry(name));

    expect(await store.get(a1)).toEqual(entry(a1));
    expect(await store.list()).toEqual([entry(a), entry(a1), entry(b)]);
  });

  opened("get() returns undefined for what is not there, or can never be", async ({ store, prefix }) => {
    for (const name of [`${prefix}dev`, "a.b", "", "*", ">", "__proto__"])
      expect(await store.get(name)).toBeUndefined();
    expect(await store.list()).toEqual([]);
  });

  opened(
    "write() passes the current entry to the change, and stores nothing when that throws",
    async ({ store, prefix }) => {
      const dev = `${prefix}dev`;
      await store.write(dev, (current) => entry(dev, { labels: { was: current?.name ?? "nothing" } }));
      await store.write(dev, (current) => ({ ...(current ?? entry(dev)), deleting: true }));
      const refused = store.write(dev, () => {
        throw new RangeError("no");
      });

      await expect(refused).rejects.toThrow(new RangeError("no"));
      expect(await store.get(dev)).toEqual(entry(dev, { labels: { was: "nothing" }, deleting: true }));
    },
  );

  opened("of several concurrent creates one finds nothing there", async ({ store, prefix }) => {
    const dev = `${prefix}dev`;
    const found: (NamespaceEntry | undefined)[] = [];
    const create = (label: string) =>
      store.write(dev, (current) => {
        found.push(current);
        if (current !== undefined) throw new RangeError("exists");
        return entry(dev, { labels: { label } });
      });
    const outcomes = await Promise.allSettled(["1", "2", "3", "4"].map(create));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(found).toContain(undefined);
    expect(found.some((entryThere) => entryThere !== undefined)).toBe(true);
  });

  opened(
    "remove() removes an entry, is silent if there is none, and it can be written again",
    async ({ store, prefix }) => {
      const dev = `${prefix}dev`;
      await store.write(dev, () => entry(dev));
      await store.remove(dev);
      await store.remove(dev);
      await store.remove(`${prefix}never`);

      expect(await store.get(dev)).toBeUndefined();
      expect(await store.list()).toEqual([]);
      expect(await store.write(dev, (current) => current ?? entry(dev))).toEqual(entry(dev));
    },
  );

  opened("watch() reports what exists, then synced, then each change in order", async ({ store, prefix, caughtUp }) => {
    const dev = `${prefix}dev`;
    const events: string[] = [];
    await store.write(dev, () => entry(dev));
    await caughtUp();
    const stop = await store.watch({
      set: ({ name, deleting }) => events.push(`set ${name}${deleting ? " deleting" : ""}`),
      removed: (name) => events.push(`removed ${name}`),
      synced: () => events.push("synced"),
    });
    expect(events).toEqual([`set ${dev}`, "synced"]);

    await store.write(dev, () => entry(dev, { deleting: true }));
    await store.remove(dev);
    await store.write(dev, () => entry(dev));
    await eventually(() => events.length === 5, { what: "three changes" });
    expect(events.slice(2)).toEqual([`set ${dev} deleting`, `removed ${dev}`, `set ${dev}`]);
    stop();
  });

  opened("watch() of an empty store is synced at once, and ends when stopped", async ({ store, prefix }) => {
    const dev = `${prefix}dev`;
    const [events, otherEvents]: [string[], string[]] = [[], []];
    const observer = (to: string[]) => ({
      set: ({ name }: NamespaceEntry) => void to.push(name),
      removed: () => void to.push("removed"),
      synced: () => void to.push("synced"),
    });
    const stop = await store.watch(observer(events));
    const stopOther = await store.watch(observer(otherEvents));
    stop();
    await store.write(dev, () => entry(dev));
    await eventually(() => otherEvents.includes(dev), { what: "the other observer" });

    expect(events).toEqual(["synced"]);
    stopOther();
  });
}
