import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import { commandLine } from "../../../data/words/shell-word.ts";

/** The `weir` command that sends the same deployment. */
export function deployCommandLine(deployment: FunctionDeployment): string {
  const { service, namespace, image, envProcess, envVars, labels, annotations, secrets, ...rest } = deployment;
  const pairs = (flag: string, map: Readonly<Record<string, string>> | undefined): string[] =>
    Object.entries(map ?? {}).flatMap(([key, value]) => [flag, `${key}=${value}`]);
  return commandLine([
    "weir",
    "deploy",
    service,
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
    "--image",
    image,
    ...(envProcess === undefined ? [] : ["--process", envProcess]),
    ...pairs("--env", envVars),
    ...(secrets ?? []).flatMap((secret) => ["--secret", secret]),
    ...pairs("--label", labels),
    ...pairs("--annotation", annotations),
    ...pairs("--limit", rest.limits),
    ...pairs("--request", rest.requests),
    ...(rest.constraints ?? []).flatMap((constraint) => ["--constraint", constraint]),
    ...(rest.readOnlyRootFilesystem === true ? ["--read-only"] : []),
  ]);
}
