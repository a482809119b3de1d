import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { expect, inject } from "vitest";

import { objectLabel } from "../../runtime/api/names.ts";
import type { ClusterLevel } from "../../scripts/cluster/places.ts";
import type { GivenCluster } from "./cluster-setup.ts";
import { kubectlFor, type Kubectl } from "./kubectl.ts";
import { tempDirectory, type TempDirectory } from "./temp-directory.ts";

/** An object of the Kubernetes API. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A service account that acts with its own token only. */
export interface ClusterAccount {
  readonly token: string;
  /** Mode 0600. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
}

/** A real API server, and more at higher levels, with a namespace for the test file that opened it. */
export interface TestCluster extends AsyncDisposable {
  /** Of the administrator. */
  readonly kubeconfig: string;
  readonly level: ClusterLevel;
  /** New; `close` removes it with its content. */
  readonly namespace: string;
  /** The API server: its address, and the certificate authority of its certificate (PEM). */
  readonly server: string;
  readonly ca: string;
  /** The cluster's directory, if it is one of `scripts/cluster`. */
  readonly directory?: string;
  /** As administrator. */
  readonly kubectl: Kubectl;
  /**
   * Creates or changes objects (server-side apply), by default in `namespace`. `close` removes objects outside
   * namespaces, except custom resource definitions: others may use them.
   */
  apply(...objects: readonly KubernetesObject[]): Promise<void>;
  /** Requests a token of an existing service account, valid for an hour. */
  account(name: string, namespace?: string): Promise<ClusterAccount>;
  close(): Promise<void>;
}

interface ConfigView {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly "certificate-authority-data"?: string } },
  ];
}

const namespaceTimeout = 120_000;

/**
 * Opens a new namespace in the cluster that was given to the tests.
 * @throws Error if none was given
 */
export async function openTestCluster(): Promise<TestCluster> {
  const given = inject("cluster");
  if ("missing" in given) throw new Error(`Cannot open a cluster for tests: ${given.missing}`);
  return openGivenCluster(given, namespaceName());
}

/** The same in a given cluster; the namespace has this name, and must not exist yet. */
export async function openGivenCluster(given: GivenCluster, namespace: string): Promise<TestCluster> {
  const kubectl = kubectlFor(given.kubectl, given.kubeconfig, namespace);
  const { server, ca } = await addressOf(kubectl);
  const directory = await tempDirectory("cluster");
  const made: KubernetesObject[] = [];

  const apply = async (...objects: readonly KubernetesObject[]): Promise<void> => {
    const args = ["apply", "--server-side", "--field-manager=weir-test", "--filename=-"];
    const here = objects.filter(({ metadata }) => metadata.namespace === undefined);
    const elsewhere = objects.filter(({ metadata }) => metadata.namespace !== undefined);
    made.push(...here.filter(({ kind }) => kind !== "CustomResourceDefinition"));
    if (here.length > 0) await kubectl(args, { input: listOf(here) });
    if (elsewhere.length > 0) await kubectl(args, { input: listOf(elsewhere), namespace: null });
  };
  const close = async (): Promise<void> => {
    const namespaces = [
      ...made.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name),
      namespace,
    ];
    const others = made.splice(0).filter(({ kind }) => kind !== "Namespace");
    try {
      const args = ["delete", "--ignore-not-found", "--wait=false", "--filename=-"];
      if (others.length > 0) await kubectl(args, { input: listOf(others.reverse()) });
    } finally {
      for (const each of namespaces) await removeNamespace(kubectl, given.level, each);
      await directory.remove();
    }
  };

  try {
    // Functions in it belong to this test: no platform of another test refuses them.
    const labels = { [objectLabel.platform]: namespace };
    const input = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
    await kubectl(["create", "--filename=-"], { namespace: null, input });
  } catch (err) {
    await directory.remove();
    throw err;
  }
  return {
    kubeconfig: given.kubeconfig,
    level: given.level,
    namespace,
    server,
    ca,
    ...(given.directory !== undefined && { directory: given.directory }),
    kubectl,
    apply,
    account: (name, place = namespace) => accountIn(given, { name, namespace: place, server, ca, kubectl, directory }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function listOf(objects: readonly KubernetesObject[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
}

/** Shows which test file left the namespace, should it ever stay. */
function namespaceName(): string {
  const file = basename(expect.getState().testPath ?? "test", ".test.ts").replaceAll(/[^a-z0-9]+/g, "-");
  return `weir-test-${file.slice(0, 30)}-${randomBytes(4).toString("hex")}`;
}

async function addressOf(kubectl: Kubectl): Promise<{ readonly server: string; readonly ca: string }> {
  const args = ["config", "view", "--raw", "--minify", "--flatten", "--output=json"];
  const view = JSON.parse(await kubectl(args, { namespace: null })) as ConfigView;
  const { server, "certificate-authority-data": ca = "" } = view.clusters[0].cluster;
  return { server, ca: Buffer.from(ca, "base64").toString() };
}

async function removeNamespace(kubectl: Kubectl, level: ClusterLevel, name: string): Promise<void> {
  if (level === "api") await empty(kubectl, name);
  await kubectl(["delete", "namespace", name, "--ignore-not-found", "--wait=false"], { namespace: null });
  if (level !== "api") {
    await awaitRemoval(kubectl, level, name);
    return;
  }
  // At this level no controller does it.
  const input = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } });
  const args = ["replace", `--raw=/api/v1/namespaces/${name}/finalize`, "--filename=-"];
  await kubectl(args, { namespace: null, input });
}

/**
 * A namespace controller that finds the same pods twice checks again after half the longest grace of their templates,
 * which may be minutes. So the pods get a grace of a second, or none where they have no process, and the namespace a
 * label once they are gone: a change of it makes the controller check again.
 */
async function awaitRemoval(kubectl: Kubectl, level: ClusterLevel, namespace: string): Promise<void> {
  const grace = level === "kwok" ? ["--force", "--grace-period=0"] : ["--grace-period=1"];
  await kubectl(["delete", "pods", "--all", "--ignore-not-found", ...grace], { namespace, timeout: namespaceTimeout });
  await kubectl(["label", "namespace", `--selector=kubernetes.io/metadata.name=${namespace}`, "emptied=true"], {
    namespace: null,
  });
  const args = ["wait", "--for=delete", `namespace/${namespace}`, `--timeout=${namespaceTimeout / 1_000}s`];
  await kubectl(args, { namespace: null, timeout: namespaceTimeout });
}

async function empty(kubectl: Kubectl, namespace: string): Promise<void> {
  const kinds = await kubectl(["api-resources", "--namespaced", "--verbs=delete,list", "--output=name"], {
    namespace: null,
  });
  const args = ["delete", kinds.trim().split("\n").join(","), "--all", "--ignore-not-found", "--wait=false"];
  await kubectl(args, { namespace });
}

interface AccountOptions {
  readonly name: string;
  readonly namespace: string;
  readonly server: string;
  readonly ca: string;
  /** As administrator. */
  readonly kubectl: Kubectl;
  readonly directory: TempDirectory;
}

async function accountIn(given: GivenCluster, options: AccountOptions): Promise<ClusterAccount> {
  const { name, namespace, server, ca, kubectl, directory } = options;
  const token = (await kubectl(["create", "token", name, "--duration=1h"], { namespace })).trim();
  const kubeconfig = join(directory.path, `${namespace}-${name}-${randomBytes(4).toString("hex")}.kubeconfig`);
  const cluster = { server, ...(ca !== "" && { "certificate-authority-data": Buffer.from(ca).toString("base64") }) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    contexts: [{ name: "test", context: { cluster: "test", user: name } }],
    clusters: [{ name: "test", cluster }],
    users: [{ name, user: { token } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { token, kubeconfig, kubectl: kubectlFor(given.kubectl, kubeconfig, namespace) };
}
