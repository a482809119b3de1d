import { autoscalerRules, autoscalerSettings } from "../autoscaler/settings.ts";
import { gatewayDrainTimeout, gatewayRules, gatewaySettings } from "../gateway/settings.ts";
import { historySettings } from "../history/settings.ts";
import { providerSettings } from "../provider/settings.ts";
import { queueDoctorRules, queueDoctorSettings, storeRule } from "../queue-doctor/settings.ts";
import { queueWorkerRules, queueWorkerSettings, workerDrainTimeout } from "../queue-worker/settings.ts";
import { historySwitch } from "../settings/history-settings.ts";
import { differentPorts, type SettingRule } from "../settings/setting-rules.ts";
import {
  choice,
  duration,
  optionalText,
  port,
  text,
  type Setting,
  type Settings,
  type Values,
} from "../settings/setting.ts";
import { providerNames } from "../api/machine-providers.ts";
import { engineSocket, expectedEngine, parseEngineAddress } from "../api/engine-address.ts";

/** Settings that the host decides itself for the parts it runs. */
const decidedHere = [
  "natsUrl",
  "natsUser",
  "natsPasswordFile",
  "natsCaFile",
  "provider",
  "kubernetesHost",
  "kubernetesPort",
  "serviceAccountDir",
  "secretMountPath",
  "secretsDir",
  "logsDir",
  "adminHost",
  "queue",
  "gatewayUrl",
  "oneMachine",
  "natsMonitorUrl",
  "durability",
  "maxFileStore",
  "natsReplicas",
  "historyDir",
  "historyPort",
  "historyHost",
  "historyUrl",
  "stopWithInput",
  "logProvider",
  "logData",
  "logEngine",
] as const;
type DecidedHere = (typeof decidedHere)[number];

const { host, port: gatewayPort, ...otherGatewaySettings } = gatewaySettings;

/** Settings of one machine: those of all its parts, without what the host decides, and its own. */
export const hostSettings = {
  host,
  port: gatewayPort,
  data: text("data", { fallback: ".weir", about: "Directory where everything is kept" }),
  iamDirectory: optionalText("iam_directory", {
    about: "Directory of JwtIssuers, Policies and Roles, in YAML files; when absent, iam in the data directory",
  }),
  provider: choice("provider", ["auto", ...providerNames], {
    fallback: "auto",
    about: "What runs functions: local = processes, docker = containers, auto = what the first start chose",
  }),
  trustedAuthorities: optionalText("trusted_authorities", {
    about: "PEM file of authorities that issuers of tokens and receivers of callbacks may have certificates of, too",
  }),
  dockerSocket: engine("docker_socket", {
    about: `Address of the container engine of provider docker: a socket, or tcp://host:port; when absent, DOCKER_HOST, else ${engineSocket}`,
  }),
  natsServer: optionalText("nats_server", { about: "The nats-server program; found or installed when absent" }),
  natsPort: port("nats_port", {
    fallback: "0",
    about: "Port of the broker on loopback; 0 = any free one, kept in the data directory",
  }),
  natsMonitorPort: port("nats_monitor_port", {
    fallback: "0",
    about: "Port of the broker's monitoring on loopback; 0 = any free one, kept in the data directory",
  }),
  durability: choice("durability", ["interval", "always"], {
    fallback: "interval",
    about:
      "interval: a crash of the operating system may lose about the last second of calls; always: none, at half the speed",
  }),
  ...without(decidedHere, {
    ...queueDoctorSettings,
    ...queueWorkerSettings,
    ...otherGatewaySettings,
    ...autoscalerSettings,
    ...providerSettings,
    ...historySettings,
  }),
  ...historySwitch,
  logFormat: choice("log_format", ["auto", "json", "text"], {
    fallback: "auto",
    about: "Format of the log: text = lines for a person, json = JSON lines, auto = text on a terminal, else json",
  }),
  consolePort: { ...gatewaySettings.consolePort, fallback: "8081" },
  maxConnectionsPerClient: { ...gatewaySettings.maxConnectionsPerClient, fallback: "1000" },
  shutdownDelay: duration("shutdown_delay", {
    fallback: "0s",
    max: 3_600_000,
    about: "Time between becoming unready and refusing connections during a stop, for a load balancer in front",
  }),
};

/** The address of a container engine; an empty one counts as left out. */
function engine(name: string, options: { readonly about: string }): Setting<string | undefined> {
  return {
    name,
    kind: "address of an engine",
    ...options,
    optional: true,
    parse: (value) => {
      const address = parseEngineAddress(value);
      return value !== "" && address === undefined ? { expected: expectedEngine } : { value: address };
    },
  };
}

export type HostSettings = Values<typeof hostSettings>;

/** Rules across its settings: those of all its parts, and different ports. */
export const hostRules: readonly SettingRule<HostSettings>[] = [
  ...new Set<SettingRule<HostSettings>>([
    ...gatewayRules,
    ...queueWorkerRules,
    ...queueDoctorRules,
    ...autoscalerRules,
    differentPorts(["port", "adminPort", "consolePort", "natsPort", "natsMonitorPort"]),
  ]),
];

/** Milliseconds for stopping the broker, the replicas and the rest, after gateway and queue-worker. */
const restOfStop = 15_000;

/** Milliseconds this process may take to stop: its parts stop one after the other. */
export function hostDrainTimeout(settings: HostSettings): number {
  return gatewayDrainTimeout(settings) + workerDrainTimeout(settings) + restOfStop;
}

/** Milliseconds of the longest possible call, synchronous or queued: stopping replicas get as long. */
export function longestRun(
  settings: Pick<HostSettings, "upstreamTimeout">,
  queues: readonly { readonly timeout: number }[],
): number {
  return Math.max(settings.upstreamTimeout, ...queues.map(({ timeout }) => timeout));
}

/** What a store of a given size cannot hold. */
export const storeProblems = storeRule.problems;

/** Facts about the broker's store on one machine, except its size. */
export function machineStore(settings: Pick<HostSettings, "asyncMaxBody" | "maxCallRecords">) {
  return {
    payloadLimit: settings.asyncMaxBody,
    maxCallRecords: settings.maxCallRecords,
    replicas: 1,
    oneMachine: true,
  };
}

function without<S extends Settings>(keys: readonly DecidedHere[], table: S): Omit<S, DecidedHere> {
  const rest: Record<string, unknown> = { ...table };
  for (const key of keys) delete rest[key];
  return rest as Omit<S, DecidedHere>;
}
