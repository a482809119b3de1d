import type { CommandContext } from "../command-context.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { BuilderName } from "./builders.ts";
import { chooseBuilder } from "./choose-builder.ts";
import type { ImageBuild } from "./image-build.ts";
import { makeImage, type MadeImage } from "./make-image.ts";

interface BuildOptions {
  readonly builder: BuilderName | undefined;
  readonly push: boolean;
  /** Whether what the builder prints is shown, on stderr. */
  readonly quiet: boolean;
}

/**
 * Makes the images one after the other, with the first builder that answers; by the name of the function.
 * @throws CliError when no builder answers, or one fails
 */
export async function buildImages(
  { terminal, output }: CommandContext,
  builds: readonly ImageBuild[],
  { builder: named, push, quiet }: BuildOptions,
): Promise<ReadonlyMap<string, MadeImage>> {
  const [first] = builds;
  if (first === undefined) return new Map();
  const { signal } = terminal;
  // What reaches a builder may reach the steps of a Dockerfile.
  const { WEIR_TOKEN: _, ...environment } = terminal.environment;
  const builder = await chooseBuilder(named, `Cannot build "${first.name}"`, { environment, signal });
  const made = new Map<string, MadeImage>();
  for (const build of builds) {
    const progress = (line: string): void => output.note(`${build.name}: ${escapeLine(line)}`);
    made.set(
      build.name,
      await makeImage(build, push, { builder, environment, signal, progress: quiet ? undefined : progress }),
    );
  }
  return made;
}
