import { isLoopbackHost } from "../../../api/host-grammar.ts";

/** Where an image is pulled from. */
export interface ImageParts {
  /** Address of the registry, without a path. */
  readonly address: string;
  readonly repository: string;
  /** `latest` when the reference names none. */
  readonly tag: string;
  /** Whether the reference names the content itself. */
  readonly isPinned: boolean;
}

const hub = { name: "docker.io", address: "https://registry-1.docker.io", room: "library" } as const;

/** The parts of an image reference, by the rules of container engines: without a registry it is Docker Hub's. */
export function imageParts(image: string): ImageParts {
  const [named = "", digest] = image.split("@");
  const slash = named.indexOf("/");
  const first = slash < 0 ? "" : named.slice(0, slash);
  const isRegistry = first === "localhost" || /[.:]/.test(first);
  const path = isRegistry ? named.slice(slash + 1) : named;
  const colon = path.lastIndexOf(":");
  const isTagged = colon > path.lastIndexOf("/");
  const repository = isTagged ? path.slice(0, colon) : path;
  const isHub = !isRegistry || first === hub.name;
  const isLoopback = isLoopbackHost(first.replace(/:\d+$/, ""));
  return {
    address: isHub ? hub.address : `${isLoopback ? "http" : "https"}://${first}`,
    repository: isHub && !repository.includes("/") ? `${hub.room}/${repository}` : repository,
    tag: isTagged ? path.slice(colon + 1) : "latest",
    isPinned: digest !== undefined,
  };
}
