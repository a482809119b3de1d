import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds, type Kind } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import { readKubeconfig } from "../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import { functionLabel, namespaceMarker, objectLabel } from "../../runtime/api/names.ts";
import type { TestCluster } from "./test-cluster.ts";

/** Namespaces of functions created without the platform, and functions in them that are scaled to zero. */
export interface FunctionNamespaces extends AsyncDisposable {
  readonly names: readonly string[];
  /** Creates a Function without replicas. */
  makeFunction(namespace: string, name: string): Promise<void>;
  /** `namespace/name` of the Deployments of functions in these namespaces. */
  deployments(): Promise<ReadonlySet<string>>;
  hasDeployment(namespace: string, name: string): Promise<boolean>;
  /** Whether the operator and the cluster's controllers are done with the `count` functions of the namespace. */
  settled(namespace: string, count: number): Promise<boolean>;
  /** Begins to delete the namespaces. */
  close(): Promise<void>;
}

const concurrency = 12;

interface Settling extends KubeObject {
  readonly status?: { readonly observedGeneration?: number; readonly reason?: string; readonly hard?: object };
}

/** Creates `count` namespaces of the platform in `cluster`, with `each` functions in each. */
export async function makeFunctionNamespaces(
  cluster: TestCluster,
  count: number,
  each: number,
): Promise<FunctionNamespaces> {
  const client = new KubeClient(await readKubeconfig(cluster.kubeconfig), { fieldManager: "weir-test" });
  const names = Array.from({ length: count }, (_, index) => namespaceName(cluster, index));
  const labels = { [namespaceMarker.key]: namespaceMarker.value, [objectLabel.platform]: cluster.namespace };
  const makeFunction = async (namespace: string, name: string): Promise<void> => {
    const spec = { image: "example/hello:1", replicas: 0, labels: { "com.service.scale.zero": "true" } };
    await client.create(kinds.function, { metadata: { namespace, name }, spec } as Parameters<KubeClient["create"]>[1]);
  };
  const close = async (): Promise<void> => {
    await forEachConcurrently(names, (name) => client.delete(kinds.namespace, { name }));
    await client.close();
  };
  const made: FunctionNamespaces = {
    names,
    makeFunction,
    deployments: async () => {
      const keep = ({ metadata: { namespace = "", name = "" } }: { metadata: { namespace?: string; name?: string } }) =>
        `${namespace}/${name}`;
      const { items } = await listObjects(client, kinds.deployment, { labelSelector: functionLabel }, keep);
      const ours = `${cluster.namespace}-many-`;
      return new Set(items.filter((key) => key.startsWith(ours)));
    },
    settled: async (namespace, expected) => {
      const page = async (kind: Kind) => (await client.listPage<Settling>(kind, { namespace }, { limit: 500 })).items;
      const isDone = ({ metadata, status }: Settling) => status?.observedGeneration === metadata.generation;
      for (const kind of [kinds.deployment, kinds.replicaSet, kinds.function])
        if ((await page(kind)).filter(isDone).length !== expected) return false;
      const isReported = (await page(kinds.function)).every(({ status }) => status?.reason === "ScaledToZero");
      const isCounted = (await page(kinds.resourceQuota)).every(({ status }) => status?.hard !== undefined);
      const [slices, accounts] = [await page(kinds.endpointSlice), await page(kinds.serviceAccount)];
      return isReported && isCounted && slices.length === expected && accounts.length === 1;
    },
    hasDeployment: async (namespace, name) => (await client.find(kinds.deployment, { namespace, name })) !== undefined,
    close,
    [Symbol.asyncDispose]: close,
  };
  try {
    await forEachConcurrently(names, async (name) => {
      await client.create(kinds.namespace, { metadata: { name, labels } });
      for (let index = 0; index < each; index += 1) await makeFunction(name, `sleeper-${index}`);
    });
    return made;
  } catch (err) {
    await close();
    throw err;
  }
}

/** All names have the same length. */
export function namespaceName({ namespace }: Pick<TestCluster, "namespace">, index: number): string {
  return `${namespace}-many-${String(index).padStart(4, "0")}`;
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const consume = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, consume));
}
