import { RegistryClient } from "../images/registry-client.ts";
import { registryCredentials } from "../images/registry-credentials.ts";
import { isLoopbackRegistry } from "../images/push-image.ts";
import type { RegistryLook } from "./check-images.ts";

/** What answers to a manifest of one image or of one for several machines (OCI image index, Docker manifest list). */
const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** Asks the registry for the manifest, and for what that says of architectures, with what `docker login` keeps for it. */
export const lookInRegistry: RegistryLook = async (host, repository, reference) => {
  const scheme = isLoopbackRegistry(host) ? "http" : "https";
  const client = new RegistryClient(`${scheme}://${host}`, repository, await registryCredentials(host, {}));
  try {
    const options = { headers: { accept: manifestTypes }, expected: [200, 404] };
    const { status, text } = await client.send("GET", `manifests/${reference}`, options);
    return status === 404 ? undefined : await architecturesOf(JSON.parse(text) as Manifest, client);
  } finally {
    await client.close();
  }
};

/** Of one image, or of several under one name. */
interface Manifest {
  readonly config?: { readonly digest: string };
  readonly manifests?: readonly { readonly platform?: { readonly architecture?: string; readonly os?: string } }[];
}

async function architecturesOf({ config, manifests }: Manifest, client: RegistryClient): Promise<string[]> {
  if (manifests !== undefined) {
    // What is attested of an image stands beside it, with the platform "unknown".
    const named = manifests.flatMap(({ platform }) => (platform?.os === "linux" ? [platform.architecture ?? ""] : []));
    return [...new Set(named)];
  }
  const moved = [301, 302, 303, 307, 308];
  const path = `blobs/${config?.digest ?? ""}`;
  const answer = await client.send("GET", path, { expected: [200, ...moved] });
  // Registries of clouds keep their blobs elsewhere.
  const { text } = moved.includes(answer.status)
    ? await client.send("GET", answer.location ?? path, { expected: [200] })
    : answer;
  const { architecture } = JSON.parse(text) as { readonly architecture?: string };
  return architecture === undefined ? [] : [architecture];
}
