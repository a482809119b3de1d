import { customResources } from "../../../api/resources/custom-resources.ts";
import type { FunctionSpec } from "../../../api/resources/function-resource.ts";
import { safeYaml } from "../../output/safe-yaml.ts";
import type { Deployed } from "../import/import-deployment.ts";

/** An object of Kubernetes as it is written to a file. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  readonly spec: unknown;
}

export interface ManifestMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Function object: what is deployed, in the terms of Kubernetes. */
export function functionManifest(metadata: ManifestMetadata, deployed: Deployed): Manifest {
  const { group, version, kind } = customResources.function;
  return { apiVersion: `${group}/${version}`, kind, metadata, spec: specOf(deployed) };
}

function specOf({ envProcess, envVars, ...same }: Deployed): Partial<FunctionSpec> {
  const { image, labels, annotations, secrets, constraints, limits, requests, readOnlyRootFilesystem } = same;
  const spec = {
    image,
    handler: envProcess,
    environment: envVars,
    labels,
    annotations,
    secrets,
    constraints,
    limits,
    requests,
    readOnlyRootFilesystem,
  };
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
}

/** Objects as documents of one YAML file; `comments` are lines before an object. */
export async function manifestsText(
  objects: readonly { readonly object: Manifest; readonly comments?: readonly string[] }[],
): Promise<string> {
  const documents = objects.map(async ({ object, comments = [] }) => {
    const head = comments.map((line) => `# ${line}\n`).join("");
    return head + (await safeYaml(object));
  });
  return (await Promise.all(documents)).join("---\n");
}
