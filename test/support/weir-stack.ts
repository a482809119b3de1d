import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "vitest";

import { consoleService } from "../../infra/manifests/console.ts";
import { parseYaml } from "../../runtime/api/yaml-document.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";
import { openPulumiStack, sampleStack, type PulumiStack } from "./engine-stack.ts";
import type { TestCluster } from "./test-cluster.ts";

/** A stack of the project's own program. */
export interface WeirStack extends PulumiStack {
  /** Of the platform, and of functions. */
  readonly namespace: string;
  readonly functionNamespace: string;
  /** As administrator, in the namespace of the platform. */
  kubectl(...args: readonly string[]): Promise<string>;
}

const repository = join(import.meta.dirname, "..", "..");

/** Opens the sample stack of an edition, in two new namespaces that it creates, with disks that fit test machines. */
export async function openWeirStack(cluster: TestCluster, edition: string): Promise<WeirStack> {
  const stack = await openPulumiStack(repository, edition);
  const namespace = `${cluster.namespace}-${edition}`;
  await stack.configure({
    "weir:kubeconfig": cluster.kubeconfig,
    "weir:platformNamespace": namespace,
    "weir:functionNamespace": `${namespace}-fn`,
    "weir:nats": brokerOf(edition),
  });
  return inNamespaces(stack, cluster, namespace);
}

/** What the sample of an edition sets, to change another stack to it, with the same disks. */
export async function sampleConfiguration(edition: string): Promise<Readonly<Record<string, unknown>>> {
  const sample = parseYaml(await readFile(join(repository, sampleStack(edition)))) as {
    readonly config: Readonly<Record<string, unknown>>;
  };
  return { ...sample.config, "weir:nats": brokerOf(edition) };
}

function brokerOf(edition: string): object {
  return { replicas: edition === "pro" || edition === "enterprise" ? 3 : 1, storage: "1Gi" };
}

/** The same for a stack that creates a platform in `namespace` and a namespace for functions; `close` deletes both. */
export function inNamespaces(stack: PulumiStack, cluster: TestCluster, namespace: string): WeirStack {
  const functionNamespace = `${namespace}-fn`;
  const close = async (): Promise<void> => {
    await stack.close();
    const args = ["delete", "namespace", namespace, functionNamespace, "--ignore-not-found", "--wait=false"];
    await cluster.kubectl(args, { namespace: null });
  };
  return {
    ...stack,
    namespace,
    functionNamespace,
    kubectl: (...args) => cluster.kubectl(args, { namespace }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Gives each Ingress of the platform an address, once it exists, as an ingress controller does. */
export async function answerForIngress(stack: Pick<WeirStack, "kubectl">, within: number): Promise<void> {
  const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
  const answer = async (name: string): Promise<void> => {
    // One kubectl waits: starting it costs far more than what it asks.
    const there = () => stack.kubectl("wait", "--for=create", `ingress/${name}`, "--timeout=50s");
    await eventually(there, { within, what: `Ingress ${name}`, every: 500 });
    await stack.kubectl("patch", "ingress", name, "--subresource=status", "--type=merge", `--patch=${status}`);
  };
  await Promise.all(["gateway", consoleService].map(answer));
}

/** A platform that a stack created, for its users. */
export async function stackPlatform(stack: WeirStack, cluster: TestCluster, image: string): Promise<ClusterPlatform> {
  const { gatewayUrl, adminUser, adminPassword } = await stack.outputs();
  // This machine does not resolve names of the cluster.
  const address = await stack.kubectl("get", "service", "gateway", "--output=jsonpath={.spec.clusterIP}");
  const { port } = new URL(String(gatewayUrl));
  const login = Buffer.from(`${String(adminUser)}:${String(adminPassword)}`).toString("base64");
  const close = (): Promise<void> => stack.close();
  return {
    cluster,
    namespace: stack.namespace,
    functionNamespace: stack.functionNamespace,
    url: `http://${address}:${port}`,
    authorization: `Basic ${login}`,
    image,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Destroys the stack; of its objects only the custom resource definitions may stay. */
export async function expectNothingLeft(stack: WeirStack): Promise<void> {
  await stack.expect("destroy");
  expect(await stack.resources()).toEqual([]);
  const kinds =
    "namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings";
  const names = (await stack.kubectl("get", kinds, "--output=name")).split("\n");
  expect(names.filter((name) => name.includes(stack.namespace))).toEqual([]);
  expect(await stack.kubectl("get", "customresourcedefinitions", "--output=name")).toContain("functions.service.com");
}
