import { readImageBuild } from "../../build/read-image-build.ts";
import { usageError } from "../../cli-error.ts";
import { deploymentOf } from "../../project/deployment-of.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";
import type { Project } from "../../project/project.ts";
import type { Deployed } from "../import/import-deployment.ts";

/** A function of weir.yaml as it is deployed to a cluster. */
export interface GeneratedFunction {
  readonly name: string;
  readonly definition: ProjectFunction;
  readonly deployed: Deployed;
  /** Variables that its environment files alone set. */
  readonly fileVariables: readonly string[];
}

/**
 * The functions of a project with the images that `pin` makes of theirs.
 * @throws CliError when a function has no image, and none that can be pulled from a registry is built of it
 */
export async function generatedFunctions(
  project: Project,
  pin: (image: string) => Promise<string>,
): Promise<readonly GeneratedFunction[]> {
  const generated: GeneratedFunction[] = [];
  for (const [name, definition] of Object.entries(project.content.functions)) {
    const image = await pin(definition.image ?? (await builtImage(project, name, definition)));
    const { service: _, envVars, ...deployed } = deploymentOf(project, name, image);
    const own = definition.envVars;
    const fileVariables = Object.keys(envVars ?? {}).filter((key) => !Object.hasOwn(own ?? {}, key));
    const ofFiles = fileVariables.map((key) => [key, envVars?.[key] ?? ""] as const);
    generated.push({
      name,
      definition,
      deployed: {
        ...deployed,
        ...(own === undefined && ofFiles.length === 0 ? {} : { envVars: { ...Object.fromEntries(ofFiles), ...own } }),
      },
      fileVariables,
    });
  }
  return generated;
}

async function builtImage({ directory }: Project, name: string, definition: ProjectFunction): Promise<string> {
  const failure = `Cannot generate "${name}"`;
  const { image, hasRegistry } = await readImageBuild(definition, { name, directory, registry: undefined, failure });
  if (!hasRegistry) throw usageError(`${failure}: a cluster cannot pull its image; set build.registry, or image`);
  return image;
}
