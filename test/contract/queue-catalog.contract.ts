import { expect, test } from "vitest";

import type { QueueCatalog, QueueDeclaration } from "../../runtime/core/ports/queue-catalog.ts";
import { eventually } from "../support/eventually.ts";
import { sampleQueue } from "./samples.ts";

export interface OpenQueueCatalog {
  readonly catalog: QueueCatalog;
  close(): Promise<void>;
}

/** What every `QueueCatalog` must do. */
export function queueCatalogContract(open: () => Promise<OpenQueueCatalog>): void {
  test("keeps what is declared, replaces it, lists it by name and drops what is removed", async () => {
    const { catalog, close } = await open();
    const [slow, fast] = [sampleQueue({ name: "slow" }), sampleQueue({ name: "fast", strict: true })];
    await catalog.put(slow);
    await catalog.put(fast);
    expect(await catalog.get("slow")).toEqual(slow);
    expect(await catalog.get("none")).toBeUndefined();
    expect(await catalog.get("no name")).toBeUndefined();
    expect(await catalog.list()).toEqual([fast, slow]);
    await catalog.put({ ...slow, maxInflight: 9 });
    expect((await catalog.get("slow"))?.maxInflight).toBe(9);
    await catalog.remove("slow");
    expect(await catalog.get("slow")).toBeUndefined();
    expect(await catalog.list()).toEqual([fast]);
    await close();
  });

  test("watch reports what exists, then synced, then each change until it is ended", async () => {
    const { catalog, close } = await open();
    await catalog.put(sampleQueue({ name: "first" }));
    const events: string[] = [];
    const last = new Map<string, QueueDeclaration>();
    const end = await catalog.watch({
      set: (queue) => {
        events.push(`set ${queue.name}`);
        last.set(queue.name, queue);
      },
      removed: (name) => events.push(`removed ${name}`),
      synced: () => events.push("synced"),
    });
    expect(events).toEqual(["set first", "synced"]);
    await catalog.put(sampleQueue({ name: "second" }));
    await catalog.put(sampleQueue({ name: "first", maxInflight: 7 }));
    await catalog.remove("second");
    await eventually(() => events.at(-1) === "removed second", { what: "the changes" });
    expect(events).toEqual(["set first", "synced", "set second", "set first", "removed second"]);
    expect(last.get("first")?.maxInflight).toBe(7);
    end();
    const other: string[] = [];
    const endOther = await catalog.watch({ set: () => {}, removed: (name) => other.push(name), synced: () => {} });
    await catalog.remove("first");
    await eventually(() => other.includes("first"), { what: "the other watch" });
    expect(events.at(-1)).toBe("removed second");
    endOther();
    await close();
  });

  test("watch of an empty catalog is synced at once", async () => {
    const { catalog, close } = await open();
    let synced = 0;
    const end = await catalog.watch({
      set: () => expect.fail("there is none"),
      removed: () => {},
      synced: () => synced++,
    });
    expect(synced).toBe(1);
    end();
    await close();
  });
}
