import { afterEach, beforeEach, expect, test } from "vitest";

import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import { openLogs } from "../../../../../runtime/adapters/kubernetes/logs/open-logs.ts";
import { historyCluster } from "../../../../../runtime/adapters/kubernetes/open-kubernetes.ts";
import { eventually } from "../../../../support/eventually.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";
import { KubernetesPods } from "../../../../support/kubernetes-pods.ts";

const hello = { namespace: "functions", name: "hello" };
const all = { ...hello, instance: undefined, tail: undefined, since: undefined, follow: false };
const news = { onFailure: () => {}, onRecovered: () => {} };
const settings = {
  edition: "pro",
  functionNamespace: "functions",
  platformNamespace: "weir",
  keptLogs: true,
  logFollowMax: 10,
} as const;

let api: KubernetesApi;
let pods: KubernetesPods;
beforeEach(async () => {
  api = await openKubernetesApi();
  pods = new KubernetesPods(api);
});
afterEach(() => api.close());

test("a history has the logs of functions, and the namespaces of the cluster", async () => {
  const marker = { "com.service.namespace": "1" };
  api.store.write(kinds.namespace, { metadata: { name: "dev", labels: marker } });
  api.store.write(kinds.namespace, { metadata: { name: "other" } });
  for (const namespace of ["functions", "dev", "other"]) pods.start({ ...hello, namespace }, "hello-a");
  pods.write(hello, "hello-a", "one");
  const { source, functions, facts, close } = historyCluster(api.config, settings, news);
  try {
    const active = await eventually(() => functions.active(), { what: "the pods" });
    expect(active.map(({ namespace }) => namespace).sort()).toEqual(["dev", "functions"]);
    const records = await Array.fromAsync(source.read(all, new AbortController().signal));
    expect(records.map(({ instance, text }) => `${instance} ${text}`)).toEqual(["hello-a one\n"]);
    expect((await facts.namespaces?.list())?.map(({ name }) => name)).toEqual(["dev"]);
  } finally {
    await close();
  }
});

test("where no lines are kept, no pod is watched; with one namespace, none of the others is asked for", async () => {
  pods.start(hello, "hello-a");
  const off = { ...settings, edition: "community", keptLogs: false } as const;
  const { source, functions, facts, close } = historyCluster(api.config, off, news);
  expect(await functions.active()).toEqual([]);
  expect(await Array.fromAsync(source.read(all, new AbortController().signal))).toEqual([]);
  expect(facts.namespaces).toBeUndefined();
  await close();
  expect(api.requests).toEqual([]);
});

test("log_provider kubernetes needs the account of a pod; others need none", async () => {
  const place = { ...settings, kubernetesHost: "127.0.0.1", kubernetesPort: 1, serviceAccountDir: "/nowhere" };
  const logs = { logData: "/nowhere", logEngine: undefined };
  await expect(openLogs({ ...place, ...logs, logProvider: "kubernetes" }, news)).rejects.toThrow(/\/nowhere/);
  const none = await openLogs({ ...place, ...logs, logProvider: "none" }, news);
  expect(await none.functions.active()).toEqual([]);
  await none.close();
});
