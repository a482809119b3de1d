import { quote } from "shlex";

import { usageError } from "../../cli-error.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";
import { targetWords, type DeployTarget } from "./deploy-target.ts";

/** What a function is deployed from. */
export type FunctionSource =
  | { readonly kind: "image"; readonly image: string }
  /** An image that is built. */
  | { readonly kind: "build" }
  | {
      readonly kind: "folder";
      /** As in `weir.yaml`. */
      readonly folder: string;
      readonly process: string;
      readonly prepare: readonly string[];
    };

/**
 * Chooses what a function is deployed from. Only the local provider runs folders; everything else runs images.
 * @throws CliError when the function has nothing that the target can run
 */
export function functionSource(name: string, definition: ProjectFunction, target: DeployTarget): FunctionSource {
  const { folder, image, build, run, envProcess } = definition;
  const refuse = (reason: string): never => {
    throw usageError(`Cannot deploy "${name}"${targetWords(target)}: ${reason}`);
  };
  switch (target) {
    case "folders": {
      if (image !== undefined && (folder === undefined || run === undefined)) return { kind: "image", image };
      if (folder === undefined) return refuse(`it runs no images; set folder and run.process, ${orImages}`);
      const process = run?.process ?? envProcess;
      if (process === undefined) return refuse(`it runs no images; set run.process, ${orImages}`);
      return { kind: "folder", folder, process, prepare: preparation(run ?? {}) };
    }
    case "processes":
      return image === undefined
        ? refuse("folders of this machine are not there; set image and envProcess")
        : { kind: "image", image };
    case "engine":
    case "machine":
    case "cluster":
      return image === undefined || build !== undefined ? { kind: "build" } : { kind: "image", image };
    default:
      return target satisfies never;
  }
}

const orImages = "or start Weir with --provider docker";

/** The commands that prepare a folder, each with the environment that they share. */
function preparation({
  prepare = [],
  prepareEnvironment = {},
}: NonNullable<ProjectFunction["run"]>): readonly string[] {
  const variables = Object.entries(prepareEnvironment).map(([name, value]) => `${name}=${quote(value)}`);
  return variables.length === 0 ? prepare : prepare.map((command) => ["env", ...variables, command].join(" "));
}
