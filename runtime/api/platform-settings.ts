import { editionNames } from "./editions.ts";
import { choice, duration, list, optionalText, port, text, whole } from "./setting.ts";

/** Settings that several processes read, each described once; a process spreads in the groups it reads. */

/** Every process has these. */
export const processSettings = {
  adminHost: text("admin_host", { fallback: "127.0.0.1", about: "Address the admin port listens on" }),
  adminPort: port("admin_port", {
    fallback: "8082",
    about: "Admin port: probes and metrics, never exposed; 0 = any free one",
  }),
  logLevel: choice("log_level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
    fallback: "info",
    about: "Least severe level that is logged",
  }),
};

/** How a process reaches the broker. */
export const brokerSettings = {
  natsUrl: text("nats_url", {
    fallback: "nats://127.0.0.1:4222",
    about: "Addresses of the NATS server, separated by commas",
  }),
  natsUser: optionalText("nats_user", { about: "User at the NATS server" }),
  natsPasswordFile: optionalText("nats_password_file", { about: "File with the password of nats_user" }),
  natsPing: duration("nats_ping", {
    fallback: "5s",
    about: "Time between pings; two that stay unanswered end the connection",
  }),
};

/** Names every part must agree on. */
export const platformSettings = {
  edition: choice("edition", editionNames, { fallback: "community", about: "Preset of limits" }),
  platformNamespace: text("platform_namespace", { fallback: "weir", about: "Namespace of the platform itself" }),
  functionNamespace: text("function_namespace", { fallback: "functions", about: "The default namespace of functions" }),
  clusterGatewayUrl: optionalText("cluster_gateway_url", {
    about: "Address of the gateway for code in the cluster; made from platform_namespace when absent",
  }),
};

/** Time limits of calls. */
export const callTimeSettings = {
  upstreamTimeout: duration("upstream_timeout", {
    fallback: "30s",
    about: "Longest a synchronous call may take, bodies included",
  }),
  wakeTimeout: duration("wake_timeout", { fallback: "60s", about: "Longest a call waits for a replica" }),
};

/** Waiting for replicas, in each process that calls functions. */
export const wakeSettings = {
  maxWaitingCallers: whole("max_waiting_callers", {
    fallback: "10000",
    min: 1,
    about: "Most calls of this process that wait for a replica",
  }),
};

/** How asynchronous calls and their records are kept. */
export const queueSettings = {
  asyncMaxBody: whole("async_max_body", {
    fallback: "1048576",
    min: 1,
    max: 67_108_864,
    about: "Most bytes of an asynchronous call's body",
  }),
  ackWait: duration("ack_wait", {
    fallback: "60s",
    about: "Lease after which a call is taken from a worker that went silent",
  }),
  callAge: duration("call_age", { fallback: "168h", about: "Age at which a call that has not begun is given up" }),
  callRecordTtl: duration("call_record_ttl", {
    fallback: "1h",
    about: "How long records of ended calls are kept at least",
  }),
  maxCallRecords: whole("max_call_records", { fallback: "500000", min: 100, about: "Most call records at a time" }),
};

/** Where callbacks may go. */
export const callbackSettings = {
  callbackPolicy: choice("callback_policy", ["any", "public"], {
    fallback: "any",
    about: "public: only public addresses; any: also private and loopback ones",
  }),
  callbackAllow: list("callback_allow", {
    fallback: "",
    about: "Hosts, host:port or CIDR ranges that callbacks may always go to",
  }),
};

/** Processes of which only one acts at a time. */
export const leaseSettings = {
  leaseTtl: duration("lease_ttl", {
    fallback: "15s",
    about: "Time after which the lease of a process that died is free",
  }),
};

/** Where one machine keeps what Kubernetes keeps itself. */
export const machineSettings = {
  secretsDir: text("secrets_dir", { fallback: ".weir/secrets", about: "Directory of secrets: <namespace>/<name>" }),
  logsDir: text("logs_dir", { fallback: ".weir/logs", about: "Directory of logs: <namespace>/<function>/<replica>" }),
};

/** The value of cluster_gateway_url, or what it is when absent (contract §1.1). */
export function clusterGatewayUrl(values: {
  readonly clusterGatewayUrl?: string | undefined;
  readonly platformNamespace: string;
}): string {
  return values.clusterGatewayUrl ?? `http://gateway.${values.platformNamespace}.svc.cluster.local.:8080`;
}

/** Settings that only `main.ts` of a process started apart reads; a host knows these things by itself. */
export type ConnectionSetting =
  | keyof typeof brokerSettings
  | keyof typeof processSettings
  | keyof typeof machineSettings;
