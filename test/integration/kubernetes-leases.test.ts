import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import { autoscalerCluster, operatorCluster } from "../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { Leadership } from "../../runtime/core/leadership.ts";
import type { Leases } from "../../runtime/core/ports/leases.ts";
import { pauseFor } from "../../runtime/process/pause-for.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi, type SeenRequest } from "../support/kubernetes-api.ts";

const places = { edition: "community", functionNamespace: "fn", platformNamespace: "weir" } as const;
/** With 5 s per response a renewal has 6 s to spare: a busy machine may take some of them. */
const leaseTtl = 20_000;
const lists = 1_500;
const isLease = ({ path }: SeenRequest): boolean => path.includes("/leases");

let api: KubernetesApi;
let cluster: ReturnType<typeof operatorCluster>;
beforeEach(async () => {
  api = await openKubernetesApi();
  cluster = operatorCluster(api.config, places, { onFailure: () => {}, onRecovered: () => {} });
});
afterEach(async () => {
  await cluster.close();
  await api.close();
});

/** Competes for the lease until it is ended; `changes` has each change. */
function lead(leases: Leases) {
  const changes: boolean[] = [];
  const stop = new AbortController();
  const leadership = new Leadership({
    leases,
    name: "process.operator",
    leaseTtl,
    now: () => performance.now(),
    pause: pauseFor,
    onChange: (leads) => changes.push(leads),
    onError: () => {},
  });
  const running = leadership.run(stop.signal);
  const end = (): Promise<void> => {
    stop.abort();
    return running;
  };
  return { leadership, changes, end };
}

test("leases and writes do not wait for lists", async () => {
  api.faults.delay = ({ method, query }) => (method === "GET" && query.has("limit") ? 50 : 0);
  let listed = 0;
  const listing = Array.from({ length: lists }, async () => {
    await listObjects(cluster.client, kinds.pod, { namespace: "fn" }, ({ metadata }) => metadata.name);
    listed += 1;
  });
  await eventually(() => listed > 0, { what: "the first lists" });
  expect(await cluster.leases.acquire("process.operator", "a", 9_000)).toBe(true);
  expect(await cluster.leases.acquire("process.operator", "a", 9_000)).toBe(true);
  await cluster.client.create(kinds.configMap, { metadata: { namespace: "fn", name: "a" } });
  // All of them take five seconds.
  expect(listed).toBeLessThan(lists);
  await Promise.all(listing);
  expect(listed).toBe(lists);
});

test("an autoscaler's lease does not wait for retries", async () => {
  const autoscaler = autoscalerCluster(api.config, places, { onFailure: () => {}, onRecovered: () => {} });
  api.faults.refuse = (request) => (isLease(request) ? undefined : { status: 503 });
  const changes = Array.from({ length: 50 }, () =>
    autoscaler.functions.get({ namespace: "fn", name: "echo" }).catch(() => {}),
  );
  expect(await autoscaler.leases.acquire("process.autoscaler", "a", 9_000)).toBe(true);
  await autoscaler.close();
  await Promise.all(changes);
});

test("a renewal takes one request, also after an unrelated change of the object", async () => {
  const acquire = (): Promise<boolean> => cluster.leases.acquire("process.operator", "a", 9_000);
  expect(await acquire()).toBe(true);
  const before = api.requests.length;
  for (let times = 0; times < 3; times += 1) expect(await acquire()).toBe(true);
  expect(api.requests.slice(before).map(({ method }) => method)).toEqual(["PUT", "PUT", "PUT"]);
  const lease = api.store.get("leases", "weir", "process.operator");
  api.store.put("leases", { ...lease, metadata: { ...lease?.metadata, labels: { team: "a" } } });
  expect(await acquire()).toBe(true);
  expect(api.store.get("leases", "weir", "process.operator")?.metadata.labels).toEqual({ team: "a" });
  api.store.remove("leases", "weir", "process.operator");
  expect(await acquire()).toBe(true);
});

describe("an API server that responds in 5 s", () => {
  test("does not cost the leader its lease", async () => {
    api.faults.delay = () => 5_000;
    const first = lead(cluster.leases);
    const renewals = (): number =>
      api.requests.filter((request) => isLease(request) && request.method === "PUT").length;
    await eventually(() => renewals() >= 2, { within: 60_000, what: "the first renewal in time" });
    const from = first.changes.length;
    await eventually(() => renewals() >= 5, { within: 60_000, what: "more renewals" });
    expect(first.changes.slice(from)).toEqual([]);
    expect(first.leadership.leads).toBe(true);
    api.faults.delay = undefined;
    await first.end();
  });
});
