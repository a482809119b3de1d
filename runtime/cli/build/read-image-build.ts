import { readFile, realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { usageError } from "../cli-error.ts";
import { findProjectPath } from "../project/project-path.ts";
import type { ProjectFunction } from "../project/project-schema.ts";
import { hashContext, contentTag } from "./hash-context.ts";
import type { ImageBuild } from "./image-build.ts";
import { nameImage } from "./image-reference.ts";
import { readContext, unreadable } from "./read-context.ts";

interface BuildPlace {
  readonly name: string;
  /** Directory of `weir.yaml`. */
  readonly directory: string;
  /** `--registry`. */
  readonly registry: string | undefined;
  /** Beginning of error sentences: `Cannot build "hello"`. */
  readonly failure: string;
}

/**
 * The image of a function, with the content that it would be built from now.
 * @throws CliError when there is no Dockerfile, or its folder cannot be used
 */
export async function readImageBuild(
  { folder, image, build = {}, run }: ProjectFunction,
  { name, directory, registry, failure }: BuildPlace,
): Promise<ImageBuild> {
  const { args = {}, target, platforms = [] } = build;
  const context = await findProjectPath(directory, build.context ?? folder ?? ".", "directory");
  if (context.kind === "refused") throw usageError(`${failure}: ${context.state}`);
  const dockerfile = resolve(context.path, build.dockerfile ?? "Dockerfile");
  const text = await readFile(dockerfile, "utf8").catch((err: unknown) =>
    run !== undefined && build.dockerfile === undefined
      ? refuseRun(failure, dockerfile)
      : unreadable(failure, dockerfile, err),
  );
  const place = { directory: context.path, use: "image", project: await realpath(directory), dockerfile } as const;
  const hash = await hashContext(context.path, await readContext(place, failure), failure);
  const content = contentTag(hash, text, Object.entries(args).toSorted(byKey), target ?? "", platforms);
  const named = nameImage({ name, registryFlag: registry, image, registry: build.registry, tag: build.tag, content });
  return { ...named, name, content, context: context.path, dockerfile, args, target, platforms };
}

function refuseRun(failure: string, dockerfile: string): never {
  throw usageError(
    `${failure}: "run" is for the local provider, and there is no "${dockerfile}"; add one, or set image`,
  );
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
