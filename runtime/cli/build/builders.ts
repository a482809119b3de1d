import type { ImageBuild } from "./image-build.ts";

/** What makes images, in the order in which one is chosen. */
export const builderNames = ["buildx", "docker", "podman"] as const;
export type BuilderName = (typeof builderNames)[number];

/** A program and its arguments. */
export type BuilderCommand = readonly [command: string, ...args: readonly string[]];

/** Label of an image: the content that it was built from. */
export const contentLabel = "com.service.content";

/** The command lines of one builder. */
export interface Builder {
  /** As a person types it. */
  readonly title: string;
  /** Succeeds if builder and engine answer; no line of its output begins with `Error:` then. */
  readonly probe: BuilderCommand;
  build(build: ImageBuild, push: boolean): BuilderCommand;
  /** Undefined: `build` has pushed it. */
  push(build: ImageBuild): BuilderCommand | undefined;
  /** Prints the labels of an image of the engine as JSON, or fails if it is not there. */
  labels(image: string): BuilderCommand;
  /** Succeeds if the registry has an image of several platforms. Absent: the builder makes none. */
  readonly find?: (image: string) => BuilderCommand;
}

const labelsFormat = ["image", "inspect", "--format", "{{json .Config.Labels}}"] as const;

/** See {@link Builder}. */
export const builders: Readonly<Record<BuilderName, Builder>> = {
  buildx: {
    title: "docker buildx",
    probe: ["docker", "buildx", "inspect"],
    build: (build, push) => {
      const to = push && hasPlatforms(build) ? "--push" : "--load";
      return ["docker", "buildx", "build", "--progress", "plain", to, "--tag", build.image, ...inputs(build, push)];
    },
    push: (build) => (hasPlatforms(build) ? undefined : ["docker", "push", build.image]),
    labels: (image) => ["docker", ...labelsFormat, image],
    find: (image) => ["docker", "buildx", "imagetools", "inspect", image],
  },
  docker: {
    title: "docker",
    probe: ["docker", "version", "--format", "{{.Server.Version}}"],
    build: (build, push) => ["docker", "build", "--tag", build.image, ...inputs(build, push)],
    push: ({ image }) => ["docker", "push", image],
    labels: (image) => ["docker", ...labelsFormat, image],
  },
  podman: {
    title: "podman",
    probe: ["podman", "info", "--format", "{{.Version.Version}}"],
    build: (build, push) => {
      const as = push && hasPlatforms(build) ? "--manifest" : "--tag";
      return ["podman", "build", as, build.image, ...inputs(build, push)];
    },
    push: (build) =>
      hasPlatforms(build)
        ? ["podman", "manifest", "push", "--all", build.image, `docker://${build.image}`]
        : ["podman", "push", build.image],
    labels: (image) => ["podman", ...labelsFormat, image],
    find: (image) => ["podman", "manifest", "inspect", `docker://${image}`],
  },
};

/** Whether the image is one for several platforms, which only registries hold. */
export function hasPlatforms({ platforms }: Pick<ImageBuild, "platforms">): boolean {
  return platforms.length > 1;
}

/** An engine holds images of its own platform: with several, one that is not pushed is built for that one. */
function inputs(
  { content, dockerfile, context, args, target, platforms }: ImageBuild,
  push: boolean,
): readonly string[] {
  const chosen = push || platforms.length === 1 ? platforms.join(",") : "";
  return [
    "--file",
    dockerfile,
    "--label",
    `${contentLabel}=${content}`,
    ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
    ...(target === undefined ? [] : ["--target", target]),
    ...(chosen === "" ? [] : ["--platform", chosen]),
    context,
  ];
}
