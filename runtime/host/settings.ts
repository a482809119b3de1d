import { autoscalerRules, autoscalerSettings } from "../autoscaler/settings.ts";
import { gatewayDrainTimeout, gatewayRules, gatewaySettings } from "../gateway/settings.ts";
import { providerSettings } from "../provider/settings.ts";
import { queueDoctorRules, queueDoctorSettings, storeRule } from "../queue-doctor/settings.ts";
import { queueWorkerRules, queueWorkerSettings, workerDrainTimeout } from "../queue-worker/settings.ts";
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

/** What the host decides for the parts it runs, so that nobody has to. */
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
] as const;
type DecidedHere = (typeof decidedHere)[number];

const { host, port: gatewayPort, ...otherGatewaySettings } = gatewaySettings;

/** Settings of one machine: those of all its parts, less what the host decides, and its own. */
export const hostSettings = {
  host,
  port: gatewayPort,
  data: text("data", { fallback: ".weir", about: "Directory where everything is kept" }),
  provider: choice("provider", ["auto", ...providerNames], {
    fallback: "auto",
    about: "What runs functions: processes, or containers; auto keeps what the first start took",
  }),
  dockerSocket: engine("docker_socket", {
    about: `Where the container engine of provider docker is: a socket, or tcp://host:port; without it what DOCKER_HOST says, else ${engineSocket}`,
  }),
  natsServer: optionalText("nats_server", { about: "The nats-server program; found or installed when absent" }),
  natsPort: port("nats_port", {
    fallback: "0",
    about: "Port of the broker on loopback; 0 = any free one, kept in the data directory",
  }),
  natsMonitorPort: port("nats_monitor_port", {
    fallback: "0",
    about: "Port of the broker's monitoring on loopback; 0 = any free one, kept",
  }),
  durability: choice("durability", ["interval", "always"], {
    fallback: "interval",
    about: "interval: a crash of the operating system may lose 0.1 s of calls; always: none, at half the speed",
  }),
  ...without(decidedHere, {
    ...queueDoctorSettings,
    ...queueWorkerSettings,
    ...otherGatewaySettings,
    ...autoscalerSettings,
    ...providerSettings,
  }),
  logFormat: choice("log_format", ["auto", "json", "text"], {
    fallback: "auto",
    about: "How the log is written: lines for a person, JSON lines, or by itself the first on a terminal",
  }),
  maxConnectionsPerClient: { ...gatewaySettings.maxConnectionsPerClient, fallback: "1000" },
  shutdownDelay: duration("shutdown_delay", {
    fallback: "0s",
    max: 3_600_000,
    about: "Time between being unready and refusing connections at a stop; for a load balancer in front",
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

/** What its settings must keep together: the rules of all its parts, and different ports. */
export const hostRules: readonly SettingRule<HostSettings>[] = [
  ...new Set<SettingRule<HostSettings>>([
    ...gatewayRules,
    ...queueWorkerRules,
    ...queueDoctorRules,
    ...autoscalerRules,
    differentPorts(["port", "adminPort", "natsPort", "natsMonitorPort"]),
  ]),
];

/** What the broker, the replicas and all else get at a stop, after gateway and queue-worker. */
const restOfStop = 15_000;

/** Milliseconds this process may take to stop: its parts do so one after the other. */
export function hostDrainTimeout(settings: HostSettings): number {
  return gatewayDrainTimeout(settings) + workerDrainTimeout(settings) + restOfStop;
}

/** Milliseconds of the longest call there can be, synchronous or queued: replicas that stop get as long. */
export function longestRun(
  settings: Pick<HostSettings, "upstreamTimeout">,
  queues: readonly { readonly timeout: number }[],
): number {
  return Math.max(settings.upstreamTimeout, ...queues.map(({ timeout }) => timeout));
}

/** What a store of that size cannot hold. */
export const storeProblems = storeRule.problems;

/** What is known of the broker's store on one machine, but its size. */
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
