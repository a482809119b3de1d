import { natsServerOptions, natsUserOptions } from "../../../runtime/api/broker/nats-server-options.ts";
import { natsUsers, type NatsUser } from "../../../runtime/api/broker/nats-users.ts";
import { natsUser } from "../../../runtime/api/broker/nats-users.ts";
import { natsSecretName, queueWorkerName, platformSecret } from "../names.ts";
import { natsPodHost, natsPods, natsPort } from "./nats-addresses.ts";
import { brokerFacts } from "../option-rules.ts";
import type { Platform } from "../platform.ts";

/** Where the server finds its store, its secrets and its certificate. */
export const natsDirectory = { store: "/data", secrets: "/etc/nats/secrets", tls: "/etc/nats/tls" } as const;

/** A user of the broker and the Secret with its password. */
export interface BrokerAccount {
  readonly user: NatsUser;
  readonly secret: string;
  /** File in the Secret that the server reads: the password as a variable of its configuration. */
  readonly file: string;
  /** Name of that variable. */
  readonly variable: string;
}

/** The users of a cluster's broker: as on one machine, without the rights to what Kubernetes keeps. */
export function brokerAccounts({ queues, history }: Pick<Platform, "queues" | "history">): BrokerAccount[] {
  const deployments = new Map<string, string>([
    [natsUser.gateway, "gateway"],
    [natsUser.autoscaler, "autoscaler"],
    [natsUser.doctor, "queue-doctor"],
    [natsUser.history, "history"],
    ...queues.map(({ name }) => [natsUser.worker(name), queueWorkerName(name)] as const),
  ]);
  return natsUsers({ queues: queues.map(({ name }) => name), oneMachine: false, history }).map((user) => {
    const secret = natsSecretName(deployments.get(user.name) ?? user.name);
    return { user, secret, file: `${secret}.conf`, variable: variableOf(secret) };
  });
}

function variableOf(secret: string): string {
  return `password_of_${secret.replaceAll("-", "_")}`;
}

/** Name of the variable with the key of the encrypted store. */
export const storeKeyVariable = "store_key";

/**
 * Configuration of every server, without secret values: those are variables, defined by files of Secrets that it
 * includes.
 */
export function natsConfig(platform: Platform): string {
  const { nats, settings } = platform;
  const accounts = brokerAccounts(platform);
  const { durability, maxFileStore } = brokerFacts(nats);
  const { jetstream, ...options } = natsServerOptions({
    storeDirectory: natsDirectory.store,
    maxFileStore,
    durability: durability === "cluster" ? "always" : durability,
    payloadLimit: settings.queueDoctor.asyncMaxBody,
  });
  const fields = {
    listen: `0.0.0.0:${natsPort.client}`,
    http: `0.0.0.0:${natsPort.monitor}`,
    ...options,
    jetstream: { ...jetstream, cipher: "aes", key: variable(storeKeyVariable) },
    ...(nats.tls ? { tls: certificate } : {}),
    authorization: { users: accounts.map((each) => natsUserOptions(each.user, variable(each.variable))) },
  };
  const includes = [...accounts.map(({ file }) => file), `${platformSecret.natsStore}.conf`];
  return [
    ...includes.map((file) => `include "${relativeSecrets}/${file}"`),
    ...Object.entries(fields).map(([key, value]) => `${key}: ${text(value)}`),
    ...(nats.replicas === "1" ? [] : [cluster(platform)]),
    "",
  ].join("\n");
}

/** The file that lists the routes; each address contains the password that servers use among themselves. */
export function routesFile(platform: Platform, password: string): string {
  const routes = natsPods(platform).map(
    (pod) => `nats-route://route:${password}@${natsPodHost(platform, pod)}:${natsPort.route}`,
  );
  return `authorization: ${text({ user: "route", password, timeout: 5 })}\nroutes: ${text(routes)}\n`;
}

/** The configuration is next to the directory of the secrets. */
const relativeSecrets = "secrets";
const certificate = { cert_file: `${natsDirectory.tls}/tls.crt`, key_file: `${natsDirectory.tls}/tls.key` };

function cluster({ nats }: Platform): string {
  // Clients connect to the Service; pod addresses are of no use to them.
  const fields = {
    name: "weir",
    listen: `0.0.0.0:${natsPort.route}`,
    no_advertise: true,
    ...(nats.tls ? { tls: { ...certificate, ca_file: `${natsDirectory.tls}/ca.crt`, verify: true } } : {}),
  };
  const lines = Object.entries(fields).map(([key, value]) => `  ${key}: ${text(value)}`);
  return `cluster {\n  include "${relativeSecrets}/${platformSecret.natsRoutes}.conf"\n${lines.join("\n")}\n}`;
}

const mark = "variable:";

function variable(name: string): string {
  return `${mark}${name}`;
}

/** JSON, which the server reads as its own format, with marked texts replaced by variables. */
function text(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(
    new RegExp(`"${mark}(\\w+)"`, "g"),
    (_, name: string) => `$${name}`,
  );
}
