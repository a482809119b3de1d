import { folderImage } from "../../../api/folders/folder-content.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { keyPrefixes, localAnnotation } from "../../../api/names.ts";
import { folderContent } from "../../build/hash-context.ts";
import type { ImageBuild } from "../../build/image-build.ts";
import { readContext } from "../../build/read-context.ts";
import { readImageBuild } from "../../build/read-image-build.ts";
import { usageError } from "../../cli-error.ts";
import { deploymentOf, projectFunction } from "../../project/deployment-of.ts";
import { findProjectPath } from "../../project/project-path.ts";
import type { Project } from "../../project/project.ts";
import { targetWords, type DeployTarget } from "./deploy-target.ts";
import { functionSource, type FunctionSource } from "./function-source.ts";

/** A function as it is sent, and the image that has to be there first. */
export interface PlannedDeployment {
  readonly deployment: FunctionDeployment;
  readonly build: ImageBuild | undefined;
}

export interface PlanPlace {
  readonly target: DeployTarget;
  /** `--namespace`, which wins over that of the function. */
  readonly namespaceFlag: string | undefined;
  /** Where the function is deployed if it does not say; undefined is the gateway's default namespace. */
  readonly namespace: string | undefined;
  /** `--registry`. */
  readonly registry: string | undefined;
}

/**
 * What is sent for a function of a project: its folder is read, nothing is built or changed.
 * @throws CliError when it cannot be deployed to this target
 */
export async function planDeployment(project: Project, name: string, place: PlanPlace): Promise<PlannedDeployment> {
  const definition = projectFunction(project, name);
  const source = functionSource(name, definition, place.target);
  const planned = await fromSource(project, name, source, place);
  const namespace = place.namespaceFlag ?? planned.deployment.namespace ?? place.namespace;
  return { ...planned, deployment: { ...planned.deployment, ...(namespace === undefined ? {} : { namespace }) } };
}

async function fromSource(
  project: Project,
  name: string,
  source: FunctionSource,
  { target, registry }: PlanPlace,
): Promise<PlannedDeployment> {
  const failure = `Cannot deploy "${name}"${targetWords(target)}`;
  switch (source.kind) {
    case "image":
      return { deployment: deploymentOf(project, name, source.image), build: undefined };
    case "build": {
      const place = { name, directory: project.directory, registry, failure };
      const build = await readImageBuild(projectFunction(project, name), place);
      if (!build.hasRegistry && target !== "engine")
        throw usageError(`${failure}: no registry is set; set build.registry or --registry`);
      return { deployment: deploymentOf(project, name, build.image), build };
    }
    case "folder": {
      const folder = await findProjectPath(project.directory, source.folder, "directory");
      if (folder.kind === "refused") throw usageError(`${failure}: ${folder.state}`);
      const { path } = folder;
      const entries = await readContext({ directory: path, use: "snapshot", project: path }, failure);
      const image = folderImage(name, await folderContent(path, entries, failure));
      return { deployment: folderDeployment(deploymentOf(project, name, image), path, source), build: undefined };
    }
    default:
      return source satisfies never;
  }
}

/** The local provider copies the folder; its tag makes a change of its content a change of the deployment. */
function folderDeployment(
  deployment: FunctionDeployment,
  folder: string,
  { process, prepare }: Extract<FunctionSource, { kind: "folder" }>,
): FunctionDeployment {
  const [prefix] = keyPrefixes;
  const annotations = {
    ...deployment.annotations,
    [prefix + localAnnotation.folder]: folder,
    ...(prepare.length === 0 ? {} : { [prefix + localAnnotation.prepare]: JSON.stringify(prepare) }),
  };
  return { ...deployment, envProcess: process, annotations };
}
