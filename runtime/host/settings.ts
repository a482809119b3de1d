import { gatewaySettings } from "../gateway/settings.ts";
import { providerSettings } from "../provider/settings.ts";
import { queueDoctorSettings } from "../queue-doctor/settings.ts";
import { queueWorkerSettings } from "../queue-worker/settings.ts";
import { choice, duration, optionalText, port, text, type Settings, type Values } from "../api/setting.ts";

/** What the host decides for the parts it runs, so that nobody has to. */
const decidedHere = [
  "natsUrl",
  "natsUser",
  "natsPasswordFile",
  "secretMountPath",
  "secretsDir",
  "logsDir",
  "adminHost",
  "queue",
  "gatewayUrl",
  "oneMachine",
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
  provider: choice("provider", ["auto", "local", "docker"], {
    fallback: "auto",
    about: "What runs functions: processes without isolation, or containers; auto keeps what the first start took",
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
    ...providerSettings,
  }),
  logLevel: choice("log_level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
    fallback: "warn",
    about: "Least severe level that is logged",
  }),
  shutdownDelay: duration("shutdown_delay", {
    fallback: "0s",
    about: "Time between being unready and refusing connections at a stop; for a load balancer in front",
  }),
};

export type HostSettings = Values<typeof hostSettings>;

function without<S extends Settings>(keys: readonly DecidedHere[], table: S): Omit<S, DecidedHere> {
  const rest: Record<string, unknown> = { ...table };
  for (const key of keys) delete rest[key];
  return rest as Omit<S, DecidedHere>;
}
