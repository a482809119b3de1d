import { describe, expect, test } from "vitest";

import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds, type Kind } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import { KubeWatch } from "../../runtime/adapters/kubernetes/watch/watch.ts";
import { retryOnConflict } from "../../runtime/adapters/kubernetes/client/write-object.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi } from "../support/kubernetes-api.ts";

interface Counter extends KubeObject {
  readonly count: number;
}

const place = { namespace: "dev", name: "a" };
const stormLength = 6_000;
const mostPerSecond = 5;

describe.concurrent("FP4", () => {
  test.each([
    ["429", 429, undefined],
    ["429 with Retry-After", 429, 1],
    ["500", 500, undefined],
    ["409", 409, undefined],
  ])("a storm of %s causes few requests, and all is done after it", async (_, status, retryAfter) => {
    const api = await openKubernetesApi();
    const client = new KubeClient(api.config, { fieldManager: "weir-test" });
    const watch = (kind: Kind) =>
      new KubeWatch<Counter, number>(client, kind, { namespace: "dev", keep: ({ count }) => count });
    const watches = [watch(kinds.function), watch(kinds.pod), watch(kinds.pod), watch(kinds.function)];
    try {
      api.store.write(kinds.function, { metadata: place, count: 0 } as Counter);
      await Promise.all(watches.map(({ synced }) => synced));
      await eventually(() => api.watching === watches.length, { what: "all watches" });
      const before = api.requests.length;
      const startedAt = performance.now();
      const isStorm = (): boolean => performance.now() - startedAt < stormLength;
      api.faults.refuse = () =>
        isStorm() ? { status, ...(retryAfter === undefined ? {} : { retryAfter }) } : undefined;
      api.resetAll();
      // Retries without end, 0.5 s after each failure, as an operator would.
      const change = () =>
        retryOnConflict("count", async (options) => {
          const current = await client.get<Counter>(kinds.function, place, options);
          return client.replace<Counter>(kinds.function, { ...current, count: current.count + 1 } as Counter, place);
        });
      const done = eventually(change, { within: 3 * stormLength, what: "the change", every: 500 });
      await eventually(() => !isStorm(), { within: 2 * stormLength, what: "the end of the storm" });
      const requests = api.requests.slice(before).filter(({ at }) => at - startedAt < stormLength);
      // First attempts are not delayed.
      expect(requests.length).toBeLessThanOrEqual((mostPerSecond * stormLength) / 1_000 + watches.length);
      await done;
      await eventually(() => watches.every(({ objects }) => (objects.get("dev/a") ?? 1) === 1), {
        what: "all caches to know",
      });
      await eventually(() => api.watching === watches.length, { what: "all watches again" });
      expect(api.store.get("functions", "dev", "a")).toMatchObject({ count: 1 });
    } finally {
      await Promise.all(watches.map((each) => each.close()));
      await client.close();
      await api.close();
    }
  });
});
