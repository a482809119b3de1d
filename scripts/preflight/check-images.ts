import type { Platform } from "../../infra/manifests/platform.ts";
import { fullImageName } from "../images/image-name.ts";
import type { Node } from "./check-nodes.ts";
import { note, ok, problem, type Finding } from "./finding.ts";

/**
 * The architectures for which a registry has an image, e.g. `amd64`; undefined when it has none. Rejects when the
 * registry cannot be queried.
 */
export type RegistryLook = (
  host: string,
  repository: string,
  reference: string,
) => Promise<readonly string[] | undefined>;

/** Whether nodes have the images, or can pull them; `nodes` are those on which the platform's pods may run. */
export async function checkImages(
  nodes: readonly Node[],
  { images }: Platform,
  look: RegistryLook,
): Promise<Finding[]> {
  const wanted = [...new Set([images.weir, images.nats])];
  return Promise.all(wanted.map((image) => checkImage(image, nodes, images.pullPolicy, look)));
}

async function checkImage(
  image: string,
  nodes: readonly Node[],
  pullPolicy: Platform["images"]["pullPolicy"],
  look: RegistryLook,
): Promise<Finding> {
  const { host, repository, reference, isNamed } = partsOf(image);
  const separator = reference.startsWith("sha256:") ? "@" : ":";
  const whole = `${host}/${repository}${separator}${reference}`;
  const having = nodes.filter(({ status }) => status?.images?.some(({ names }) => names?.includes(whole)));
  const isEverywhere = nodes.length > 0 && having.length === nodes.length;
  if (isEverywhere && pullPolicy !== "Always") return ok(`image ${image} is on all nodes`);
  const load = `push it (npm run images -- --push REGISTRY) and set weir:images, or load it on each node (docs/reference/images.md)`;
  if (pullPolicy === "Never") return problem(`image ${image} is on ${having.length} of ${nodes.length} nodes`, load);
  if (!isNamed)
    return problem(`image ${image} names no registry, and is on ${having.length} of ${nodes.length} nodes`, load);
  try {
    const architectures = await look(host, repository, reference);
    return architectures === undefined
      ? problem(`image ${image} is not in its registry`, load)
      : suitsNodes(image, architectures, nodes);
  } catch (err) {
    const because = err instanceof Error ? err.message : String(err);
    return note(`whether ${host} has image ${image} cannot be told from here`, because);
  }
}

/** Whether the image runs on all nodes, as a pod may be scheduled to any of them. */
function suitsNodes(image: string, architectures: readonly string[], nodes: readonly Node[]): Finding {
  if (architectures.length === 0)
    return note(`image ${image} is in its registry, which does not say for which architecture`);
  const others = nodes.filter((node) => !architectures.includes(architectureOf(node)));
  const built = architectures.join(" and ");
  if (others.length === 0) return ok(`image ${image} is in its registry, for ${built}`);
  const kinds = [...new Set(others.map(architectureOf))].join(" and ");
  const count = others.length === nodes.length ? "all" : `${others.length} of ${nodes.length}`;
  return problem(
    `image ${image} is for ${built}, and ${count} nodes are ${kinds}`,
    architectures.length === 1 && count !== "all"
      ? `push one for ${kinds}, too, or set weir:images.architecture to ${built} (docs/reference/images.md)`
      : `push one for ${kinds}, too (docs/reference/images.md)`,
  );
}

function architectureOf({ metadata, status }: Node): string {
  return metadata.labels?.["kubernetes.io/arch"] ?? status?.nodeInfo?.architecture ?? "of unknown architecture";
}

/** The parts of an image's full name, as container engines complete it. */
export function partsOf(image: string): {
  readonly host: string;
  readonly repository: string;
  readonly reference: string;
  /** Whether the name includes the registry. */
  readonly isNamed: boolean;
} {
  const full = fullImageName(image);
  const [host = "", ...rest] = full.split("/");
  const [name = "", digest] = rest.join("/").split("@");
  const colon = name.indexOf(":");
  const repository = colon < 0 ? name : name.slice(0, colon);
  const tag = colon < 0 ? "latest" : name.slice(colon + 1);
  return { host, repository, reference: digest ?? tag, isNamed: full === image };
}
