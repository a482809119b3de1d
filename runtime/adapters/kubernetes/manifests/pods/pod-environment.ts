import { formatDuration } from "../../../../api/duration.ts";
import { secretDirectories, workloadTokenFile } from "../../../../api/names.ts";
import type { DesiredFunction } from "../../../../core/functions/desired-function.ts";
import { functionEnvironment } from "../../../../core/functions/function-environment.ts";
import { functionPort } from "../../../../core/functions/function-port.ts";
import type { Container } from "../object-types.ts";

/** Facts of the platform that a container gets in its environment. */
export interface PodSurroundings {
  readonly gatewayUrl: string;
  /** Absent: functions get no workload tokens. */
  readonly tokenAudience: string | undefined;
  /** Milliseconds. */
  readonly grace: number;
}

/** Tells the watchdog in an image how long to let calls finish when it stops. */
const graceVariable = "write_timeout";

/**
 * The environment of a function's container (contract §7), sorted by name. Kubernetes expands
 * `$(NAME)` and `$$` in values, so every `$` is escaped: the function sees its values as deployed.
 */
export function podEnvironment(
  wanted: DesiredFunction,
  { gatewayUrl, tokenAudience, grace }: PodSurroundings,
): Container["env"] {
  const tokenFile = tokenAudience === undefined ? undefined : workloadTokenFile.cluster;
  const surroundings = { gatewayUrl, tokenFile, secretsDirectory: secretDirectories[0], port: functionPort };
  const variables = { [graceVariable]: formatDuration(grace), ...functionEnvironment(wanted, surroundings) };
  return Object.entries(variables)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, value: value.replaceAll("$", "$$$$") }));
}
