import { expect, test } from "vitest";

import { RegisteredReplicas } from "../../../../runtime/core/callbacks/replica-places.ts";
import type { EndpointsObserver, FunctionEndpoints } from "../../../../runtime/core/ports/endpoints.ts";

const isOwn = (address: string): boolean => address.startsWith("127.");
const entry = (name: string, addresses: string[], others?: string[]): FunctionEndpoints => ({
  namespace: "functions",
  name,
  addresses,
  ...(others === undefined ? {} : { others }),
  observedGeneration: 1,
  conditions: [],
});

test("knows the addresses of all functions, also of replicas that are not ready, until they are gone", async () => {
  const replicas = new RegisteredReplicas();
  const seen: string[] = [];
  let source: EndpointsObserver | undefined;
  const endpoints = replicas.following({
    watch: async (observer) => {
      source = observer;
      return () => {};
    },
  });
  await endpoints.watch({
    set: ({ name }) => seen.push(name),
    removed: ({ name }) => seen.push(`-${name}`),
    synced: () => seen.push("synced"),
  });
  const at = (address: string, port: number): boolean => replicas.isReplica({ address, port }, isOwn);

  source?.set(entry("a", ["10.0.0.1:8080", "127.0.0.1:9001"], ["10.0.0.2:8080"]));
  source?.set(entry("b", ["10.0.0.2:8080", "[fd00::1]:8080"]));
  source?.synced();
  expect([at("10.0.0.1", 8080), at("10.0.0.1", 1), at("10.0.0.2", 8080), at("fd00::1", 8080)]).toEqual(
    Array(4).fill(true),
  );
  expect([at("127.0.0.9", 9001), at("127.0.0.1", 9002), at("10.0.0.3", 8080)]).toEqual([true, false, false]);

  source?.set(entry("a", []));
  expect([at("10.0.0.1", 8080), at("127.0.0.1", 9001), at("10.0.0.2", 8080)]).toEqual([false, false, true]);
  source?.removed({ namespace: "functions", name: "b" });
  expect(at("10.0.0.2", 8080)).toBe(false);
  expect(seen).toEqual(["a", "b", "synced", "a", "-b"]);
});
