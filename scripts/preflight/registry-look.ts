import { listedImages } from "../images/manifest-list.ts";
import { isLoopbackRegistry } from "../images/push-image.ts";
import { RegistryClient } from "../images/registry-client.ts";
import { registryCredentials } from "../images/registry-credentials.ts";
import type { RegistryLook } from "./check-images.ts";

/** Queries the registry for the image, with the credentials of `docker login`. */
export const lookInRegistry: RegistryLook = async (host, repository, reference) => {
  const scheme = isLoopbackRegistry(host) ? "http" : "https";
  const client = new RegistryClient(`${scheme}://${host}`, repository, await registryCredentials(host, {}));
  try {
    const images = await listedImages(client, reference);
    const architectures = images?.flatMap(({ platform: { architecture, os } }) =>
      os === "linux" && architecture !== "unknown" ? [architecture] : [],
    );
    return architectures && [...new Set(architectures)];
  } finally {
    await client.close();
  }
};
