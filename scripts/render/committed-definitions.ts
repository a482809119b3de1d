import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { parse } from "yaml";

import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";

/** The committed definitions of the custom resources. */
export async function committedDefinitions(): Promise<KubernetesObject[]> {
  const directory = fileURLToPath(new URL("../../infra/crds/", import.meta.url));
  const files = (await readdir(directory)).filter((file) => file.endsWith(".yaml")).toSorted();
  return Promise.all(
    files.map(async (file) => parse(await readFile(`${directory}${file}`, "utf8")) as KubernetesObject),
  );
}
