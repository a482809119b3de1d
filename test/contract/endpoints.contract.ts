import { expect, test } from "vitest";

import { formatRef } from "../../runtime/core/functions/function-ref.ts";
import type { Endpoints, EndpointsPublisher, FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

export interface OpenEndpoints extends TestNamespaces {
  readonly endpoints: Endpoints;
  readonly publisher: EndpointsPublisher;
  close(): Promise<void>;
}

function at(namespace: string, name: string, ...addresses: string[]): FunctionEndpoints {
  const lastTransitionTime = "2026-01-01T00:00:00.000Z";
  const conditions = [
    { type: "Ready", status: "True", reason: "ReplicasReady", message: "1 of 1 replicas is ready", lastTransitionTime },
  ] as const;
  const names = Object.fromEntries(addresses.map((address, index) => [address, `${name}-${index}`]));
  return { namespace, name, addresses, names, observedGeneration: 3, conditions };
}

/** What every pair of `Endpoints` and `EndpointsPublisher` promises; each test opens one that is empty. */
export function endpointsContract(open: () => Promise<OpenEndpoints>): void {
  openedTest(open, "list() returns what was published last per function", async ({ publisher, namespace }) => {
    await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
    await publisher.publish(at(namespace, "b"));
    await publisher.publish(at(namespace, "a", "192.0.2.1:1", "[2001:db8::1]:2"));

    const entries = [...(await publisher.list())].sort((one, other) => one.name.localeCompare(other.name));
    expect(entries).toEqual([at(namespace, "a", "192.0.2.1:1", "[2001:db8::1]:2"), at(namespace, "b")]);
  });

  openedTest(
    open,
    "remove() removes an entry, and does not mind if there is none now",
    async ({ publisher, namespace }) => {
      await publisher.publish(at(namespace, "a"));
      await publisher.remove(at(namespace, "a"));
      await publisher.remove(at(namespace, "a"));

      expect(await publisher.list()).toEqual([]);
    },
  );

  endpointsWatchContract(open);
}

type Body = (opened: OpenEndpoints & { readonly namespace: string }) => Promise<void>;

function openedTest(open: () => Promise<OpenEndpoints>, name: string, body: Body): void {
  test(name, async () => {
    const both = await open();
    const [namespace] = namespacesOf(both);
    try {
      await body({ ...both, namespace });
    } finally {
      await both.close();
    }
  });
}

/** What every `Endpoints` promises, whoever publishes. */
export function endpointsWatchContract(open: () => Promise<OpenEndpoints>): void {
  openedTest(
    open,
    "watch() reports what exists, then synced, then each change in order",
    async ({ endpoints, publisher, namespace, caughtUp }) => {
      const events: string[] = [];
      await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
      await caughtUp?.();
      const stop = await endpoints.watch({
        set: (entry) => events.push(`set ${formatRef(entry)} ${entry.addresses.join()}`),
        removed: (ref) => events.push(`removed ${formatRef(ref)}`),
        synced: () => events.push("synced"),
      });
      expect(events).toEqual([`set a.${namespace} 192.0.2.1:1`, "synced"]);

      await publisher.publish(at(namespace, "a", "192.0.2.1:2"));
      await publisher.remove(at(namespace, "a"));
      await publisher.publish(at(namespace, "a", "192.0.2.1:3"));
      await eventually(() => events.length === 5, { what: "three changes" });
      expect(events.slice(2)).toEqual([
        `set a.${namespace} 192.0.2.1:2`,
        `removed a.${namespace}`,
        `set a.${namespace} 192.0.2.1:3`,
      ]);
      stop();
    },
  );

  openedTest(
    open,
    "watch() keeps names, conditions and generation unchanged",
    async ({ endpoints, publisher, namespace }) => {
      const events: FunctionEndpoints[] = [];
      const stop = await endpoints.watch({ set: (entry) => events.push(entry), removed: () => {}, synced: () => {} });
      await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
      await eventually(() => events.length > 0, { what: "the entry" });

      expect(events).toEqual([at(namespace, "a", "192.0.2.1:1")]);
      stop();
    },
  );

  openedTest(open, "an ended watch receives nothing", async ({ endpoints, publisher, namespace }) => {
    const events: string[] = [];
    const otherEvents: string[] = [];
    const stop = await endpoints.watch({
      set: () => events.push("set"),
      removed: () => events.push("removed"),
      synced: () => {},
    });
    const stopOther = await endpoints.watch({
      set: ({ name }) => otherEvents.push(name),
      removed: () => {},
      synced: () => {},
    });
    stop();
    await publisher.publish(at(namespace, "a"));
    await eventually(() => otherEvents.includes("a"), { what: "the other observer" });

    expect(events).toEqual([]);
    stopOther();
  });
}
