import { randomBytes } from "node:crypto";

import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds, type Kind } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import { readKubeconfig } from "../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import { objectLabel } from "../../runtime/api/names.ts";
import { applyDefinitions } from "./apply-definitions.ts";
import type { RightsRule } from "./process-rights.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const rbac = "rbac.authorization.k8s.io";

/** A cluster for tests of adapters: the platform's kinds, two namespaces, and clients that act as accounts. */
export interface KubeFixture {
  readonly cluster: TestCluster;
  /** Has all rights. */
  readonly admin: KubeClient;
  readonly namespaces: readonly [string, string];
  /** A client with the rights `rules` in both namespaces, `everywhere` in the whole cluster, and no others. */
  clientOf(name: string, rules: readonly RightsRule[], everywhere?: readonly RightsRule[]): Promise<KubeClient>;
  /** The path of a kubeconfig with the same rights. */
  kubeconfigOf(name: string, rules: readonly RightsRule[], everywhere?: readonly RightsRule[]): Promise<string>;
  /** Removes all objects of a kind from both namespaces. */
  empty(...which: readonly Kind[]): Promise<void>;
  close(): Promise<void>;
}

export async function openKubeFixture(): Promise<KubeFixture> {
  const cluster = await openTestCluster();
  await applyDefinitions(cluster);
  const second = `${cluster.namespace}-2`;
  await cluster.apply({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: second, labels: { [objectLabel.platform]: cluster.namespace } },
  });
  const namespaces = [cluster.namespace, second] as const;
  const admin = new KubeClient(await readKubeconfig(cluster.kubeconfig), { fieldManager: "weir-test" });
  const clients = [admin];
  const kubeconfigOf: KubeFixture["kubeconfigOf"] = async (name, rules, everywhere = []) => {
    const account = `${name}-${randomBytes(3).toString("hex")}`;
    await cluster.apply(...accountObjects(account, cluster.namespace, namespaces, rules, everywhere));
    return (await cluster.account(account)).kubeconfig;
  };
  return {
    cluster,
    admin,
    namespaces,
    kubeconfigOf,
    clientOf: async (name, rules, everywhere) => {
      const config = await readKubeconfig(await kubeconfigOf(name, rules, everywhere));
      const client = new KubeClient(config, { fieldManager: `weir-${name}` });
      clients.push(client);
      return client;
    },
    empty: async (...which) => {
      for (const kind of which) {
        for (const namespace of namespaces) {
          const { items } = await listObjects(admin, kind, { namespace }, ({ metadata: { name = "" } }) => name);
          for (const name of items) await admin.delete(kind, { namespace, name });
        }
      }
    },
    close: async () => {
      for (const client of clients) await client.close();
      await cluster.close();
    },
  };
}

function accountObjects(
  name: string,
  home: string,
  namespaces: readonly string[],
  rules: readonly RightsRule[],
  everywhere: readonly RightsRule[],
) {
  const subjects = [{ kind: "ServiceAccount", name, namespace: home }];
  const role = (kind: string, metadata: { readonly name: string; readonly namespace?: string }, given: object) => [
    { apiVersion: `${rbac}/v1`, kind, metadata, rules: given },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects,
    },
  ];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: home } },
    ...namespaces.flatMap((namespace) => role("Role", { name, namespace }, rules)),
    ...(everywhere.length === 0 ? [] : role("ClusterRole", { name: `${home}-${name}` }, everywhere)),
  ];
}

/** Kinds that tests of functions leave behind. */
export const functionKinds = [kinds.function, kinds.endpointSlice, kinds.secretReference, kinds.coreSecret] as const;
