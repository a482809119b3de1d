import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { customResources } from "../../runtime/api/resources/custom-resources.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";
import { isKubeconfigContent } from "../stack-secrets.ts";
import { at, type Workload } from "./decide-rollout.ts";

/** The cluster cannot be queried, and a retry does not help. */
export class CannotAskError extends Error {
  override readonly name = "CannotAskError";
}

/** The cluster to query; `kubectl` chooses what is absent. */
export interface KnownCluster {
  /** Path or content. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

const longestRequest = "10s";

/**
 * Reads an object from the API server with `kubectl`, which knows every way to log in that a kubeconfig may name.
 * Undefined when the object does not exist.
 * @throws CannotAskError if the command is missing, Error with the message of kubectl
 */
export async function lookAt(cluster: KnownCluster, object: KubernetesObject): Promise<Workload | undefined> {
  const { metadata } = object;
  const text = await get(cluster, metadata.namespace, [resourceOf(object), metadata.name, "--ignore-not-found"]);
  return text === "" ? undefined : (JSON.parse(text) as Workload);
}

/**
 * Reads the pods of a namespace that have these labels, as {@link lookAt} does.
 * @throws CannotAskError if the command is missing, Error with the message of kubectl
 */
export async function lookAtPods(
  cluster: KnownCluster,
  namespace: string | undefined,
  labels: Readonly<Record<string, unknown>>,
): Promise<readonly Workload[]> {
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  const text = await get(cluster, namespace, ["pods", `--selector=${selector.join(",")}`]);
  return (JSON.parse(text) as { readonly items: readonly Workload[] }).items;
}

/**
 * Reads those of the objects that exist, with the managers of their fields, as {@link lookAt} does: one command for each
 * namespace.
 * @throws CannotAskError if the command is missing, Error with the message of kubectl
 */
export async function lookAtAll(
  cluster: KnownCluster,
  objects: readonly KubernetesObject[],
): Promise<ReadonlyMap<KubernetesObject, Workload>> {
  const found = new Map<KubernetesObject, Workload>();
  const looks = [...Map.groupBy(objects, ({ metadata }) => metadata.namespace)].map(async ([namespace, inside]) => {
    const names = inside.map((object) => `${resourceOf(object)}/${object.metadata.name}`);
    const text = await get(cluster, namespace, [...names, "--ignore-not-found", "--show-managed-fields"]);
    if (text === "") return;
    const content = JSON.parse(text) as Workload & { readonly items?: readonly Workload[] };
    const keyOf = (kind: unknown, name: unknown) => `${String(kind)}/${String(name)}`;
    const live = new Map(
      (content.items ?? [content]).map((each) => [keyOf(each["kind"], at(each, "metadata.name")), each]),
    );
    for (const object of inside) {
      const there = live.get(keyOf(object.kind, object.metadata.name));
      if (there !== undefined) found.set(object, there);
    }
  });
  await Promise.all(looks);
  return found;
}

/** What `kubectl get` calls the kind: a core kind shares its name with one of ours. */
function resourceOf({ apiVersion, kind }: KubernetesObject): string {
  const ours = Object.values(customResources).find(
    (each) => each.kind === kind && apiVersion === `${each.group}/${each.version}`,
  );
  return ours === undefined ? kind.toLowerCase() : `${ours.plural}.${ours.version}.${ours.group}`;
}

async function get(cluster: KnownCluster, namespace: string | undefined, what: readonly string[]): Promise<string> {
  await using file = await kubeconfigFile(cluster.kubeconfig);
  const { stdout } = await kubectl([
    ...(file.path === undefined ? [] : [`--kubeconfig=${file.path}`]),
    ...(cluster.context === undefined ? [] : [`--context=${cluster.context}`]),
    ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
    `--request-timeout=${longestRequest}`,
    "get",
    ...what,
    "--output=json",
  ]);
  return stdout.trim();
}

async function kubectl(args: readonly string[]): Promise<{ readonly stdout: string }> {
  try {
    return await promisify(execFile)("kubectl", args, { maxBuffer: 16 * 1_024 * 1_024 });
  } catch (err) {
    if (!(err instanceof Error)) throw err;
    if ("code" in err && err.code === "ENOENT")
      throw new CannotAskError("the command kubectl is not on PATH", { cause: err });
    const lines = "stderr" in err && typeof err.stderr === "string" ? err.stderr.trim().split("\n") : [];
    // What its client logs comes before what it says.
    const said = lines.filter((line) => !/^[EWI]\d{4} /.test(line)).join("\n");
    throw new Error(said || err.message, { cause: err });
  }
}

/** A file that kubectl can read; if it was written from content, it is removed on disposal. */
async function kubeconfigFile(
  kubeconfig: string | undefined,
): Promise<AsyncDisposable & { readonly path?: string | undefined }> {
  if (kubeconfig === undefined || !isKubeconfigContent(kubeconfig))
    return { path: kubeconfig, [Symbol.asyncDispose]: () => Promise.resolve() };
  const directory = await mkdtemp(join(tmpdir(), "weir-kubeconfig-"));
  const path = join(directory, "kubeconfig");
  await writeFile(path, kubeconfig, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
