import { randomUUID } from "node:crypto";

import { parseDuration } from "../../runtime/api/duration.ts";
import { objectAnnotation } from "../../runtime/api/names.ts";
import { callTimeSettings, clusterGatewayUrl } from "../../runtime/settings/platform-settings.ts";
import { KubeClient } from "../../runtime/adapters/kubernetes/client/client.ts";
import { kinds, type Kind } from "../../runtime/adapters/kubernetes/client/kinds.ts";
import type { KubeObject } from "../../runtime/adapters/kubernetes/client/kube-types.ts";
import { readKubeconfig } from "../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { listObjects } from "../../runtime/adapters/kubernetes/client/list-objects.ts";
import type { FunctionObject } from "../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { functionDeployment } from "../../runtime/adapters/kubernetes/manifests/function-deployment.ts";
import { desiredOf, rolloutCount } from "../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { defaultNamespaceSettings } from "../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { clusterPart } from "./cluster-part.ts";
import { eventually } from "./eventually.ts";
import { openClusterStore, type ClusterStore, type StoredValue } from "./cluster-store.ts";
import type { TestCluster } from "./test-cluster.ts";

/** Objects that their creators renew, or that record what happened in one namespace. */
const transient = /^\/registry\/(?:events|leases)\//;
const startWithin = 300_000;
const ipAddress: Kind = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "IPAddress",
  plural: "ipaddresses",
  namespaced: false,
};
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

interface Service extends KubeObject {
  readonly spec: { readonly clusterIP?: string };
}

/**
 * Writes copies of the namespace `seed`, with everything that the operator and the cluster's controllers put into it,
 * straight into the store, as if each had been created in the same way. The names of `copies` must be as long as
 * `seed`, because most values are binary and contain the lengths of their texts.
 */
export async function copyNamespace(
  cluster: TestCluster,
  directory: string,
  { seed, copies }: { readonly seed: string; readonly copies: readonly string[] },
): Promise<void> {
  const other = copies.find(({ length }) => length !== seed.length);
  if (other !== undefined) throw new Error(`Cannot copy namespace "${seed}" to "${other}": the names differ in length`);
  const client = new KubeClient(await readKubeconfig(cluster.kubeconfig), { fieldManager: "weir-test" });
  const store = await openClusterStore(directory);
  try {
    const services = await addressesOf(client, seed);
    const functions = await functionsOf(client, seed);
    const free = freeAddresses(new Set(await addressesOf(client)));
    const templates = await templatesOf(client, store, seed, services);
    const revisions = functions.map((object) => revisionOf(object, cluster.namespace));
    const unseen = revisions.find((revision) => !templates.some(({ value }) => value.includes(revision)));
    if (unseen !== undefined) throw new Error(`Cannot copy namespace "${seed}": no template of pods has ${unseen}`);
    const tokens = [
      ...new Set([seed, ...services, ...revisions, ...templates.flatMap(({ value }) => value.match(uid) ?? [])]),
    ];
    const texts = copies.map((name) => {
      const own = functions.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: name } }));
      const known = new Map([
        [seed, name],
        ...services.map((address) => [address, free.next().value ?? ""] as const),
        ...own.map((object, at) => [revisions[at] ?? "", revisionOf(object, cluster.namespace)] as const),
      ]);
      return tokens.map((token) => known.get(token) ?? randomUUID());
    });
    const cut = templates.map(({ key, value }) => ({ key: segmentsOf(key, tokens), value: segmentsOf(value, tokens) }));
    await whileStopped(cluster, directory, () => store.put(written(cut, texts)));
  } finally {
    store.close();
    await client.close();
  }
}

/** Removes copies from the store; the controllers would take an hour. */
export async function removeCopies(directory: string, copies: readonly string[]): Promise<void> {
  if (copies.length === 0) return;
  const [names, store] = [new Set(copies), await openClusterStore(directory)];
  try {
    const keys = await store.keys("/registry/");
    await store.remove(keys.filter((key) => key.split("/").some((part) => names.has(part))));
  } finally {
    store.close();
  }
}

interface Template {
  readonly key: string;
  /** One character per byte. */
  readonly value: string;
}

/** A text split into constant strings and numbers, each the index of a token. */
type Segments = readonly (string | number)[];

function* written(
  templates: readonly { readonly key: Segments; readonly value: Segments }[],
  texts: readonly (readonly string[])[],
): Generator<StoredValue> {
  for (const each of texts) {
    const filled = (segments: Segments): string =>
      segments.map((segment) => (typeof segment === "number" ? (each[segment] ?? "") : segment)).join("");
    for (const { key, value } of templates) yield { key: filled(key), value: Buffer.from(filled(value), "latin1") };
  }
}

function segmentsOf(text: string, tokens: readonly string[]): Segments {
  const longestFirst = tokens.toSorted((a, b) => b.length - a.length);
  const any = new RegExp(`(${longestFirst.map((token) => token.replaceAll(".", String.raw`\.`)).join("|")})`);
  return text.split(any).map((segment, at) => (at % 2 === 1 ? tokens.indexOf(segment) : segment));
}

/** Runs `work` while API server and controllers are stopped: they would create what is missing from half a copy. */
async function whileStopped(cluster: TestCluster, directory: string, work: () => Promise<void>): Promise<void> {
  const controllers = await clusterPart(directory, "kube-controller-manager");
  const server = await clusterPart(directory, "kube-apiserver");
  await controllers.kill();
  await server.kill();
  try {
    await work();
  } finally {
    await server.restart();
    const isReady = () => cluster.kubectl(["get", "--raw=/readyz"], { namespace: null }).catch(() => undefined);
    await eventually(isReady, { within: startWithin, what: "the API server to be ready", every: 500 });
    await controllers.restart();
  }
}

/** All stored objects of the namespace. Services and their addresses are JSON, because addresses differ in length. */
async function templatesOf(
  client: KubeClient,
  store: ClusterStore,
  seed: string,
  services: readonly string[],
): Promise<readonly Template[]> {
  const ours = new RegExp(`/${seed}(?:/|$)`);
  const all = (await store.keys("/registry/")).filter((key) => ours.test(key) && !transient.test(key));
  const texts: Template[] = [];
  for (const key of all.filter((each) => !each.startsWith("/registry/services/specs/"))) {
    texts.push({ key, value: (await store.get(key))?.toString("latin1") ?? "" });
  }
  const type = (kind: string, apiVersion: string, object: KubeObject) => {
    const { resourceVersion: _, ...metadata } = object.metadata;
    return Buffer.from(JSON.stringify({ ...object, kind, apiVersion, metadata })).toString("latin1");
  };
  const { items } = await listObjects<Service>(client, kinds.service, { namespace: seed }, (object) => object);
  for (const service of items) {
    const key = `/registry/services/specs/${seed}/${service.metadata.name}`;
    texts.push({ key, value: type("Service", "v1", service) });
  }
  for (const name of services) {
    const address = await client.get(ipAddress, { name });
    texts.push({ key: `/registry/ipaddresses/${name}`, value: type("IPAddress", "networking.k8s.io/v1", address) });
  }
  return texts;
}

/** Cluster IP addresses of Services. */
async function addressesOf(client: KubeClient, namespace?: string): Promise<readonly string[]> {
  const query = namespace === undefined ? {} : { namespace };
  const keep = ({ spec: { clusterIP = "None" } }: Service): string => clusterIP;
  const { items } = await listObjects<Service, string>(client, kinds.service, query, keep);
  return items.filter((address) => address !== "None");
}

async function functionsOf(client: KubeClient, namespace: string): Promise<readonly FunctionObject[]> {
  const keep = (object: FunctionObject) => object;
  return (await listObjects<FunctionObject>(client, kinds.function, { namespace }, keep)).items;
}

/** Unused addresses of the network from which the API server assigns those of Services. */
function* freeAddresses(used: ReadonlySet<string>): Generator<string, undefined> {
  for (let number = 4_096; number < 65_280; number += 1) {
    const address = `10.96.${number >> 8}.${number & 255}`;
    if (!used.has(address)) yield address;
  }
}

/** The revision that the operator writes into the pod template; it depends on the namespace. */
function revisionOf(object: FunctionObject, platformNamespace: string): string {
  const { limits } = defaultNamespaceSettings(platformNamespace);
  const { spec } = functionDeployment(desiredOf(object), {
    owner: { name: object.metadata.name, uid: object.metadata.uid ?? "" },
    rollout: rolloutCount(object),
    profiles: [],
    pullSecrets: new Set(),
    gatewayUrl: clusterGatewayUrl({ platformNamespace }),
    longestCall: parseDuration(callTimeSettings.upstreamTimeout.fallback ?? "") ?? 0,
    defaultLimits: limits,
  });
  return spec.template.metadata.annotations[objectAnnotation.revision] ?? "";
}
