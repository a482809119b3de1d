import { afterEach, beforeEach, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import {
  KubeBrokerServers,
  type KubeBrokerServersOptions,
} from "../../../../../runtime/adapters/kubernetes/stores/kube-broker-servers.ts";
import type { KubeObject, ObjectMeta } from "../../../../../runtime/adapters/kubernetes/client/kube-types.ts";
import { brokerPodHost, brokerPodOf } from "../../../../../runtime/api/broker/broker-pods.ts";
import { eventually } from "../../../../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

interface Pod extends KubeObject {
  readonly status: { readonly conditions: readonly object[] };
}

const namespace = "weir";
const host = (pod: string): string => brokerPodHost(pod, namespace, "cluster.local");
const never = new AbortController().signal;
let api: KubernetesApi;
let client: KubeClient;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test", firstDelay: 5, longestDelay: 20 });
  for (const name of ["nats-0", "nats-1", "nats-2", "gateway-1"]) write(name, "True");
});
afterEach(async () => {
  await client.close();
  await api.close();
});

function write(name: string, ready: "True" | "False", more: ObjectMeta = {}): KubeObject {
  const pod: Pod = {
    metadata: { namespace, name, ...more },
    status: { conditions: [{ type: "Ready", status: ready }] },
  };
  return api.store.write(kinds.pod, pod);
}
/** Acts as a StatefulSet: another pod comes, and is ready some looks later. */
function replaceDeleted(): void {
  api.store.listen(({ type, object: { metadata } }) => {
    const { name = "" } = metadata;
    if (type !== "DELETED") return;
    setImmediate(() => write(name, "False"));
    setTimeout(() => write(name, "True"), 40);
  });
}
const uidOf = (name: string) => api.store.get("pods", namespace, name)?.metadata.uid;
const uids = () => ["nats-0", "nats-1", "nats-2", "gateway-1"].map(uidOf);
const servers = (options: KubeBrokerServersOptions = {}) =>
  new KubeBrokerServers(client, namespace, { checkInterval: 5, replaceTimeout: 10_000, ...options });
const changes = () =>
  api.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
/** Resolves when each of the pods is waited for. */
async function waitedFor(...names: readonly string[]): Promise<void> {
  const looks = (name: string) =>
    api.requests.filter(({ method, path }) => method === "GET" && path.endsWith(`/${name}`)).length;
  const what = `${names.join(" and ")} to be waited for`;
  await eventually(() => names.every((name) => looks(name) > 1), { every: 5, what });
}

test("only the pod of the named server is deleted; the restart resolves when its successor is ready", async () => {
  replaceDeleted();
  const [first, second, ...others] = uids();
  expect(await servers().restart(host("nats-1"), never)).toBe(true);
  expect(api.store.get("pods", namespace, "nats-1")).toMatchObject({ status: { conditions: [{ status: "True" }] } });
  expect(uidOf("nats-1")).not.toBe(second);
  expect([uidOf("nats-0"), uidOf("nats-2"), uidOf("gateway-1")]).toEqual([first, ...others]);
  expect(changes()).toEqual(["DELETE /api/v1/namespaces/weir/pods/nats-1"]);
});

test("servers that are not pods of this platform are left alone, without a request", async () => {
  for (const server of [
    "127.0.0.1",
    "broker",
    "nats-0.nats-headless.other.svc.cluster.local",
    "nats-0.nats.weir.svc.cluster.local",
    "gateway-1.nats-headless.weir.svc.cluster.local",
    "nats-0.nats-headless.weir.example.com",
  ])
    expect(await servers().restart(server, never), server).toBe(false);
  expect(api.requests).toEqual([]);
  expect(brokerPodOf(host("nats-2"), namespace)).toBe("nats-2");
});

test("a pod that somebody else replaces meanwhile is not deleted again: its uid is a precondition", async () => {
  let replaced = false;
  api.faults.refuse = ({ method }) => {
    if (method === "DELETE" && !replaced) {
      replaced = true;
      api.store.remove("pods", namespace, "nats-0");
      write("nats-0", "True");
    }
    return undefined;
  };
  const before = uidOf("nats-0");
  expect(await servers().restart(host("nats-0"), never)).toBe(true);
  expect(replaced).toBe(true);
  expect(uidOf("nats-0")).toBeDefined();
  expect(uidOf("nats-0")).not.toBe(before);
  expect(api.store.history.filter(({ type }) => type === "DELETED")).toHaveLength(1);
});

test("a pod that is being deleted, or does not exist, is only waited for", async () => {
  write("nats-0", "True", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const terminating = servers().restart(host("nats-0"), never);
  api.store.remove("pods", namespace, "nats-1");
  const missing = servers().restart(host("nats-1"), never);
  await waitedFor("nats-0", "nats-1");
  api.store.remove("pods", namespace, "nats-0");
  write("nats-0", "True");
  write("nats-1", "True");
  expect(await Promise.all([terminating, missing])).toEqual([true, true]);
  expect(changes()).toEqual([]);
});

test("the wait ends after the timeout, and goes on while the API server is unavailable", async () => {
  await expect(servers({ replaceTimeout: 100 }).restart(host("nats-0"), never)).rejects.toMatchObject({
    code: "provider_unavailable",
    message: 'Cannot restart server "nats-0" of the broker: its pod is not ready after 100ms',
  });
  api.faults.refuse = () => {
    if (changes().at(-1)?.endsWith("nats-1") !== true) return undefined;
    if (uidOf("nats-1") === undefined) setTimeout(() => write("nats-1", "True"), 50);
    return uidOf("nats-1") === undefined ? { status: 403 } : undefined;
  };
  expect(await servers().restart(host("nats-1"), never)).toBe(true);
});

test("the wait ends when its signal aborts; a server that was just restarted is left alone", async () => {
  const stop = new AbortController();
  const all = servers();
  const restarting = all.restart(host("nats-0"), stop.signal);
  await waitedFor("nats-0");
  stop.abort();
  expect(await restarting).toBe(false);
  write("nats-0", "True");
  expect(await all.restart(host("nats-0"), never)).toBe(false);
  expect(changes()).toHaveLength(1);
  replaceDeleted();
  expect(await all.restart(host("nats-1"), never)).toBe(true);
  expect(await servers({ cooldown: 0 }).restart(host("nats-1"), never)).toBe(true);
  expect(changes()).toHaveLength(3);
});

test("a missing right to delete is an error", async () => {
  api.faults.refuse = ({ method }) => (method === "DELETE" ? { status: 403 } : undefined);
  await expect(servers().restart(host("nats-0"), never)).rejects.toThrow('Cannot delete Pod "weir/nats-0"');
});
