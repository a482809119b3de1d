import { expect, test } from "vitest";

import { formatRef } from "../../runtime/core/functions/function-ref.ts";
import type { Endpoints, EndpointsPublisher, FunctionEndpoints } from "../../runtime/core/ports/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

/** Both sides of opened endpoints and how to close them. */
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
  return { namespace, name, addresses, observedGeneration: 3, conditions };
}

/** What every pair of `Endpoints` and `EndpointsPublisher` promises; each test opens one that is empty. */
export function endpointsContract(open: () => Promise<OpenEndpoints>): void {
  openedTest(open, "list() gives the last of what was published per function", async ({ publisher, namespace }) => {
    await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
    await publisher.publish(at(namespace, "b"));
    await publisher.publish(at(namespace, "a", "192.0.2.1:1", "[2001:db8::1]:2"));

    const entries = [...(await publisher.list())].sort((one, other) => one.name.localeCompare(other.name));
    expect(entries).toEqual([at(namespace, "a", "192.0.2.1:1", "[2001:db8::1]:2"), at(namespace, "b")]);
  });

  openedTest(
    open,
    "remove() takes an entry away, and is content when there is none",
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
    "watch() tells what is there, then synced, then each change in order",
    async ({ endpoints, publisher, namespace, caughtUp }) => {
      const heard: string[] = [];
      await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
      await caughtUp?.();
      const stop = await endpoints.watch({
        set: (entry) => heard.push(`set ${formatRef(entry)} ${entry.addresses.join()}`),
        removed: (ref) => heard.push(`removed ${formatRef(ref)}`),
        synced: () => heard.push("synced"),
      });
      expect(heard).toEqual([`set a.${namespace} 192.0.2.1:1`, "synced"]);

      await publisher.publish(at(namespace, "a", "192.0.2.1:2"));
      await publisher.remove(at(namespace, "a"));
      await publisher.publish(at(namespace, "a", "192.0.2.1:3"));
      await eventually(() => heard.length === 5, { what: "three changes" });
      expect(heard.slice(2)).toEqual([
        `set a.${namespace} 192.0.2.1:2`,
        `removed a.${namespace}`,
        `set a.${namespace} 192.0.2.1:3`,
      ]);
      stop();
    },
  );

  openedTest(open, "watch() hands on conditions and generation whole", async ({ endpoints, publisher, namespace }) => {
    const heard: FunctionEndpoints[] = [];
    const stop = await endpoints.watch({ set: (entry) => heard.push(entry), removed: () => {}, synced: () => {} });
    await publisher.publish(at(namespace, "a", "192.0.2.1:1"));
    await eventually(() => heard.length > 0, { what: "the entry" });

    expect(heard).toEqual([at(namespace, "a", "192.0.2.1:1")]);
    stop();
  });

  openedTest(open, "a watch that was ended hears nothing", async ({ endpoints, publisher, namespace }) => {
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
    await publisher.publish(at(namespace, "a"));
    await eventually(() => stillHeard.includes("a"), { what: "the other observer" });

    expect(heard).toEqual([]);
    stopOther();
  });
}
