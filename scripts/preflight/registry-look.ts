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

/** Asks the registry for the manifest, with what `docker login` keeps for it. */
export const lookInRegistry: RegistryLook = async (host, repository, reference) => {
  const scheme = isLoopbackRegistry(host) ? "http" : "https";
  const client = new RegistryClient(`${scheme}://${host}`, repository, await registryCredentials(host, {}));
  try {
    const options = { headers: { accept: manifestTypes }, expected: [200, 404] };
    return (await client.send("HEAD", `manifests/${reference}`, options)).status === 200;
  } finally {
    await client.close();
  }
};
