import { nearestName } from "../../api/closest-name.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { usageError } from "../cli-error.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { ProjectFunction } from "./project-schema.ts";
import type { Project } from "./project.ts";

/**
 * The function of a project.
 * @throws CliError when there is none of that name
 */
export function projectFunction({ content: { functions } }: Project, name: string): ProjectFunction {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (found !== undefined) return found;
  const near = nearestName(name, Object.keys(functions));
  const question = near === undefined ? "" : `; did you mean "${near}"?`;
  throw usageError(`Cannot find function "${escapeLine(name)}" in "weir.yaml": there is none${question}`);
}

/**
 * What is deployed for a function of a project: without `folder`, `build` and `run`, its environment files below its
 * `envVars`, in the project's namespace unless it names its own. `image` is one that was built; else its own is used.
 * @throws CliError when there is no such function, or no image
 */
export function deploymentOf(project: Project, name: string, image?: string): FunctionDeployment {
  const { folder: _, environmentFiles: __, build: ___, run: ____, ...fields } = projectFunction(project, name);
  const { secrets, constraints, ...deployed } = fields;
  const environment = Object.hasOwn(project.environments, name) ? project.environments[name] : undefined;
  const namespace = deployed.namespace ?? project.content.namespace;
  const used = image ?? deployed.image;
  if (used === undefined) throw usageError(`Cannot deploy "${name}": it has no image, and none was built`);
  return {
    ...deployed,
    ...(secrets === undefined ? {} : { secrets: [...secrets] }),
    ...(constraints === undefined ? {} : { constraints: [...constraints] }),
    service: name,
    image: used,
    ...(namespace === undefined ? {} : { namespace }),
    ...(environment === undefined ? {} : { envVars: { ...environment, ...deployed.envVars } }),
  };
}
