import { textOf } from "../../../runtime/settings/read-settings.ts";
import type { Setting, Settings } from "../../../runtime/settings/setting.ts";
import type { autoscalerSettings } from "../../../runtime/autoscaler/settings.ts";
import type { gatewaySettings } from "../../../runtime/gateway/settings.ts";
import type { historySettings } from "../../../runtime/history/settings.ts";
import type { operatorSettings } from "../../../runtime/operator/settings.ts";
import type { queueDoctorSettings } from "../../../runtime/queue-doctor/settings.ts";
import type { queueWorkerSettings } from "../../../runtime/queue-worker/settings.ts";

/** Settings that the manifests decide. */
export const decidedSettings = [
  "adminHost",
  "adminPort",
  "clusterGatewayUrl",
  "clusterRanges",
  "consoleHost",
  "consoleOrigins",
  "consolePort",
  "declaredQueues",
  "durability",
  "edition",
  "functionNamespace",
  "gatewayUrl",
  "history",
  "historyDir",
  "historyHost",
  "historyPort",
  "historyUrl",
  "host",
  "kubernetesHost",
  "kubernetesPort",
  "logData",
  "logEngine",
  "logProvider",
  "logsDir",
  "maxFileStore",
  "natsCaFile",
  "natsMonitorUrl",
  "natsPasswordFile",
  "natsReplicas",
  "natsUrl",
  "natsUser",
  "oneMachine",
  "platformNamespace",
  "port",
  "provider",
  "publicUrl",
  "queue",
  "recreate",
  "secretMountPath",
  "secretsDir",
  "serviceAccountDir",
  "stopWithInput",
  "tlsCert",
  "tlsKey",
] as const;

type Decided = (typeof decidedSettings)[number];
type AllSettings = typeof gatewaySettings &
  typeof queueWorkerSettings &
  typeof queueDoctorSettings &
  typeof autoscalerSettings &
  typeof operatorSettings &
  typeof historySettings;

/** Settings that users may set, each for all processes that read it, in the form of a settings file. */
export type Tuning = { readonly [K in Exclude<keyof AllSettings, Decided>]?: unknown };

/** A value that Kubernetes fills in: a variable that every container has. */
export interface PodVariable {
  readonly podVariable: string;
}

/** What the manifests decide for one process: each of its settings in the list; undefined = default. */
export type DecidedEnvironment<S extends Settings> = {
  readonly [K in Extract<keyof S, Decided>]: (S[K] extends Setting<infer T> ? T : never) | PodVariable | undefined;
};

/** One variable of a container. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
}

/** The variables of a process, in the order of its table; a setting without a variable has its default. */
export function environmentOf<S extends Settings>(
  table: S,
  decided: DecidedEnvironment<S>,
  tuning: Tuning,
): EnvironmentVariable[] {
  const variables: EnvironmentVariable[] = [];
  for (const [key, setting] of Object.entries<Setting<unknown>>(table)) {
    if (setting.parseFile !== undefined) continue;
    const value = valueOf(setting, Object.hasOwn(decided, key) ? field(decided, key) : field(tuning, key));
    if (value !== undefined) variables.push({ name: setting.name, value });
  }
  return variables;
}

function valueOf(setting: Setting<unknown>, value: unknown): string | undefined {
  if (isPodVariable(value)) return `$(${value.podVariable})`;
  const text = textOf(value);
  return text === undefined || text === setting.fallback ? undefined : withoutReferences(text);
}

/** Escapes `$`: Kubernetes would replace `$(NAME)`, and reads `$$` as `$`. */
function withoutReferences(text: string): string {
  return text.replaceAll("$", () => "$$");
}

function isPodVariable(value: unknown): value is PodVariable {
  return typeof value === "object" && value !== null && "podVariable" in value;
}

function field(of: object, key: string): unknown {
  return (of as Readonly<Record<string, unknown>>)[key];
}
