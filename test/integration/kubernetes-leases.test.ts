import { afterEach, beforeEach, expect, test } from "vitest";

import { kinds } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import { autoscalerCluster, operatorCluster } from "../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { eventually } from "../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi, type SeenRequest } from "../support/kubernetes-api.ts";

const places = { edition: "community", functionNamespace: "fn", platformNamespace: "weir" } as const;
const lists = 600;
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
  // All of them take two seconds.
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
