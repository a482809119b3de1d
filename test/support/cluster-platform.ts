import { customResourceDefinitions } from "../../infra/manifests/definitions/custom-resource-definitions.ts";
import { platformManifests } from "../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../infra/manifests/read-platform.ts";
import { secretManifests } from "../../infra/manifests/secrets.ts";
import { makeImages } from "../../scripts/images/make-images.ts";
import { freshSecrets } from "../../scripts/render/fresh-secrets.ts";
import { loadBaseImage, loadMadeImages } from "./cluster-images.ts";
import { openTestCluster, type KubernetesObject, type TestCluster } from "./test-cluster.ts";

/** A whole platform in a cluster with real pods. */
export interface ClusterPlatform extends AsyncDisposable {
  readonly cluster: TestCluster;
  /** Of the platform, and of functions. */
  readonly namespace: string;
  readonly functionNamespace: string;
  /** Of the Service, reachable from this machine. */
  readonly url: string;
  readonly authorization: string;
  /** For functions: runs `envProcess`. */
  readonly image: string;
  close(): Promise<void>;
}

const rolloutTimeout = 180_000;
const say = (): void => {};

/**
 * Builds and loads the images, applies all manifests with fresh secrets, and waits until everything is ready. The
 * platform lives in the namespace of `opened`, which it closes, or else in a new one.
 */
export async function openClusterPlatform(
  options: Readonly<Record<string, unknown>> = {},
  opened?: TestCluster,
): Promise<ClusterPlatform> {
  const cluster = opened ?? (await openTestCluster());
  const { namespace } = cluster;
  const functionNamespace = `${namespace}-fn`;
  const close = (): Promise<void> => cluster.close();
  try {
    await loadPlatformImages(cluster);
    const image = await loadBaseImage(cluster);
    const platform = readPlatform({
      // Several platforms share the cluster: with many namespaces each would adopt those of the others.
      edition: "community",
      platformNamespace: namespace,
      functionNamespace,
      nats: { tls: false, storage: "1Gi" },
      ...options,
    });
    const values = freshSecrets(platform);
    const secrets = secretManifests(platform, values);
    const definitions = customResourceDefinitions() as unknown as KubernetesObject[];
    for (const { objects } of platformManifests(platform, { definitions, secrets })) {
      if (objects.length > 0) await cluster.apply(...objects.map(plain));
    }
    const workloads = ["statefulset", "deployment"].map((kind) =>
      cluster.kubectl(["get", kind, "--output=name"]).then((names) => names.trim().split("\n")),
    );
    for (const name of (await Promise.all(workloads)).flat()) {
      await cluster.kubectl(["rollout", "status", name, "--timeout=170s"], { timeout: rolloutTimeout });
    }
    const address = await cluster.kubectl(["get", "service", "gateway", "--output=jsonpath={.spec.clusterIP}"]);
    const login = `${values.adminUser}:${values.adminPassword}`;
    return {
      cluster,
      namespace,
      functionNamespace,
      url: `http://${address}:8080`,
      authorization: `Basic ${Buffer.from(login).toString("base64")}`,
      image,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (err) {
    const state = await cluster.kubectl(["get", "pods", "--output=wide"]).catch(() => "");
    const events = await cluster.kubectl(["get", "events", "--sort-by=.lastTimestamp"]).catch(() => "");
    await close().catch(() => {});
    throw new Error(`Cannot start a platform in the cluster: ${state}\n${events.slice(-4_000)}`, { cause: err });
  }
}

/** Builds the platform's images, tagged with this version or `tag`, and loads them into the cluster. */
export async function loadPlatformImages(cluster: TestCluster, tag?: string): Promise<void> {
  await using made = await makeImages({ say, ...(tag !== undefined && { tag }) });
  await loadMadeImages(cluster, made);
}

function plain(object: object): KubernetesObject {
  return JSON.parse(JSON.stringify(object)) as KubernetesObject;
}
