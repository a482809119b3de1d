import { expect, test } from "vitest";

import { formatRef } from "../../runtime/core/function-ref.ts";
import type { Endpoints, EndpointsPublisher, FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { eventually } from "../support/eventually.ts";

/** Both sides of opened endpoints and how to close them. */
export interface OpenEndpoints {
  readonly endpoints: Endpoints;
  readonly publisher: EndpointsPublisher;
  close(): Promise<void>;
}

function at(name: string, ...addresses: string[]): FunctionEndpoints {
  const lastTransitionTime = "2026-01-01T00:00:00.000Z";
  const conditions = [
    { type: "Ready", status: "True", reason: "ReplicasReady", message: "1 of 1 replicas is ready", lastTransitionTime },
  ] as const;
  return { namespace: "functions", name, addresses, observedGeneration: 3, conditions };
}

/** What every pair of `Endpoints` and `EndpointsPublisher` promises; each test opens one that is empty. */
export function endpointsContract(open: () => Promise<OpenEndpoints>): void {
  const opened = (name: string, body: (opened: OpenEndpoints) => Promise<void>): void => {
    test(name, async () => {
      const both = await open();
      try {
        await body(both);
      } finally {
        await both.close();
      }
    });
  };

  opened("list() gives the last of what was published per function", async ({ publisher }) => {
    await publisher.publish(at("a", "127.0.0.1:1"));
    await publisher.publish(at("b"));
    await publisher.publish(at("a", "127.0.0.1:1", "[::1]:2"));

    const entries = [...(await publisher.list())].sort((one, other) => one.name.localeCompare(other.name));
    expect(entries).toEqual([at("a", "127.0.0.1:1", "[::1]:2"), at("b")]);
  });

  opened("remove() takes an entry away, and is content when there is none", async ({ publisher }) => {
    await publisher.publish(at("a"));
    await publisher.remove(at("a"));
    await publisher.remove(at("a"));

    expect(await publisher.list()).toEqual([]);
  });

  opened("watch() tells what is there, then synced, then each change in order", async ({ endpoints, publisher }) => {
    const heard: string[] = [];
    await publisher.publish(at("a", "127.0.0.1:1"));
    const stop = await endpoints.watch({
      set: (entry) => heard.push(`set ${formatRef(entry)} ${entry.addresses.join()}`),
      removed: (ref) => heard.push(`removed ${formatRef(ref)}`),
      synced: () => heard.push("synced"),
    });
    expect(heard).toEqual(["set a.functions 127.0.0.1:1", "synced"]);

    await publisher.publish(at("a", "127.0.0.1:2"));
    await publisher.remove(at("a"));
    await publisher.publish(at("a", "127.0.0.1:3"));
    await eventually(() => heard.length === 5, { within: 5_000, what: "three changes" });
    expect(heard.slice(2)).toEqual([
      "set a.functions 127.0.0.1:2",
      "removed a.functions",
      "set a.functions 127.0.0.1:3",
    ]);
    stop();
  });

  opened("watch() hands on conditions and generation whole", async ({ endpoints, publisher }) => {
    const heard: FunctionEndpoints[] = [];
    const stop = await endpoints.watch({ set: (entry) => heard.push(entry), removed: () => {}, synced: () => {} });
    await publisher.publish(at("a", "127.0.0.1:1"));
    await eventually(() => heard.length > 0, { within: 5_000, what: "the entry" });

    expect(heard).toEqual([at("a", "127.0.0.1:1")]);
    stop();
  });

  opened("a watch that was ended hears nothing", async ({ endpoints, publisher }) => {
    const heard: string[] = [];
    const stillHeard: string[] = [];
    const stop = await endpoints.watch({
      set: () => heard.push("set"),
      removed: () => heard.push("removed"),
      synced: () => {},
    });
    const stopOther = await endpoints.watch({
      set: ({ name }) => stillHeard.push(name),
      removed: () => {},
      synced: () => {},
    });
    stop();
    await publisher.publish(at("a"));
    await eventually(() => stillHeard.includes("a"), { within: 5_000, what: "the other observer" });

    expect(heard).toEqual([]);
    stopOther();
  });
}
