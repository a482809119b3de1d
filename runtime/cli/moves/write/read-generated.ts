import type { CommandContext } from "../../command-context.ts";
import type { OptionSpec } from "../../command-spec.ts";
import type { Project } from "../../project/project.ts";
import { readProject } from "../../project/read-project.ts";
import { generatedFunctions, type GeneratedFunction } from "./generated-functions.ts";

/** Options of the commands that print functions for other tools. */
export interface GenerateOptions {
  readonly digest?: boolean;
  readonly envFile?: readonly string[];
}

export const generateOptions: readonly OptionSpec[] = [
  { flags: "--digest", about: "ask the registries what the tags stand for, and pin the images to it" },
  { flags: "--env-file <file...>", about: "file with KEY=value lines for the variables in weir.yaml" },
];

/** The functions of the project around the working directory, as they are deployed to a cluster. */
export async function readGenerated(
  { terminal: { directory, environment, signal } }: CommandContext,
  { digest = false, envFile = [] }: GenerateOptions,
): Promise<{ readonly project: Project; readonly functions: readonly GeneratedFunction[] }> {
  const project = await readProject({ directory, environment, environmentFiles: envFile });
  const pin = async (image: string): Promise<string> => {
    if (!digest) return image;
    const { pinImage } = await import("./pin-image.ts");
    return pinImage(image, signal);
  };
  return { project, functions: await generatedFunctions(project, pin) };
}
