import { CliError, usageError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { contentLabel, hasPlatforms, type Builder, type BuilderCommand } from "./builders.ts";
import type { ImageBuild } from "./image-build.ts";
import { runChild, type ChildEnd } from "./run-child.ts";

interface ImageMaker {
  readonly builder: Builder;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Gets what the builder prints, a line each; absent: a failure quotes its last lines. */
  readonly progress: ((line: string) => void) | undefined;
}

/** What was done for an image. */
export interface MadeImage {
  readonly image: string;
  /** False: it was there already. */
  readonly built: boolean;
  readonly pushed: boolean;
}

/**
 * Builds an image unless one of this content is there, and pushes it if `push`.
 * @throws CliError when the builder fails, or makes no images of several platforms
 */
export async function makeImage(build: ImageBuild, push: boolean, maker: ImageMaker): Promise<MadeImage> {
  const { builder } = maker;
  const { image, name } = build;
  const onlyPushed = push && hasPlatforms(build);
  if (onlyPushed && builder.find === undefined)
    throw usageError(
      `Cannot build "${name}" for ${build.platforms.length} platforms: ${builder.title} makes images of one; use docker buildx or podman`,
    );
  const there = onlyPushed
    ? build.isContentTag && builder.find !== undefined && succeeded(await run(builder.find(image), maker))
    : await isBuilt(build, maker);
  if (onlyPushed && there) return { image, built: false, pushed: false };
  if (!there) await runAloud(`build "${name}"`, builder.build(build, push), maker);
  const pushing = push ? builder.push(build) : undefined;
  if (pushing !== undefined) await runAloud(`push "${image}"`, pushing, maker);
  return { image, built: !there, pushed: push };
}

/** Whether the engine has the image, and made it of this content. */
async function isBuilt({ image, content }: ImageBuild, maker: Omit<ImageMaker, "progress">): Promise<boolean> {
  const end = await run(maker.builder.labels(image), maker);
  return succeeded(end) && labelOf(end.stdout, contentLabel) === content;
}

async function runAloud(what: string, line: BuilderCommand, maker: ImageMaker): Promise<void> {
  const end = await run(line, maker, maker.progress);
  if (succeeded(end)) return;
  const how = end.kind === "ended" ? `${line.slice(0, 2).join(" ")} ended with ${end.code}` : end.reason;
  const quoted = end.kind === "ended" && maker.progress === undefined ? end.lastLines.map((each) => `\n${each}`) : [];
  throw new CliError(exitCode.failed, `Cannot ${what}: ${how}${quoted.join("")}`);
}

function run(
  [command, ...args]: BuilderCommand,
  { environment, signal }: Omit<ImageMaker, "progress">,
  onLine: (line: string) => void = () => {},
): Promise<ChildEnd> {
  return runChild({ command, args, environment, signal, onLine });
}

function succeeded(end: ChildEnd): end is Extract<ChildEnd, { kind: "ended" }> & { readonly code: 0 } {
  return end.kind === "ended" && end.code === 0;
}

function labelOf(json: string, label: string): unknown {
  try {
    const labels: unknown = JSON.parse(json);
    return typeof labels === "object" && labels !== null
      ? (labels as Readonly<Record<string, unknown>>)[label]
      : undefined;
  } catch {
    return undefined;
  }
}
