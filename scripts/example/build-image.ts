import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { jsonLines } from "../../runtime/adapters/machine/docker/engine/json-lines.ts";
import { baseVariants, variantNamed, type BaseVariant } from "../base-image/base-variant.ts";
import { makeBaseImage } from "../base-image/make-base-image.ts";
import { archive } from "../images/archive.ts";
import { copyFiles, type FunctionFiles } from "./copy-files.ts";

export interface BuildOptions {
  /** Where the container engine is: the path of its socket, or `tcp://host:port`. */
  readonly socket: string;
  /** Name of the image, with a tag. */
  readonly image: string;
  /** With a Dockerfile. */
  readonly files: FunctionFiles;
  readonly show: (text: string) => void;
}

/**
 * Builds an image from the base image that its Dockerfile names, which is made first if the engine lacks it; no registry is used.
 * @throws Error with a sentence when no engine responds there, or with the engine's message when it cannot build
 */
export async function buildImage({ socket, image, files, show }: BuildOptions): Promise<void> {
  const engine = new EngineClient(socket);
  try {
    await engine.ping().catch((cause: unknown) => {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${words}; say with --docker-socket which one your Weir uses`, { cause });
    });
    const variant = await variantOf(files.directory);
    const { name: base, content } = baseVariants[variant];
    const found = await engine.call("GET", `/images/${base}/json`, { expected: [404] });
    if (found.status === 404) {
      show(`# Making image ${base} of this system's ${content}, as npm run base-image does\n`);
      await makeBaseImage(engine, variant);
    }
    show(`# Building image ${image} FROM ${base} with the engine at ${socket}\n\n`);
    await build(engine, { image, base, files });
  } finally {
    await engine.close();
  }
}

async function variantOf(directory: string): Promise<BaseVariant> {
  const [, base = ""] = /^ARG BASE=(\S+)$/m.exec(await readFile(join(directory, "Dockerfile"), "utf8")) ?? [];
  return variantNamed(base) ?? "node";
}

interface Build extends Pick<BuildOptions, "image" | "files"> {
  readonly base: string;
}

async function build(engine: EngineClient, { image, base, files }: Build): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), "weir-example-image-"));
  try {
    await copyFiles(files, context);
    const query = { t: image, rm: "1", buildargs: JSON.stringify({ BASE: base, WATCHDOG: base }) };
    const responses = await engine.stream("POST", "/build", { query, body: archive(context), timeout: 0 });
    for await (const line of jsonLines(responses)) {
      const { error } = line as { error?: string };
      if (error !== undefined) throw new Error(`Cannot build image "${image}": ${error}`);
    }
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}
