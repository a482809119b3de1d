import type { clusterSettings } from "./cluster-settings.ts";
import { durabilityProfiles } from "../api/durability-profile.ts";
import { editionNames } from "../api/editions.ts";
import { notAbove, type SettingRule } from "./setting-rules.ts";
import { choice, duration, list, optionalText, port, quantity, text, whole, type Setting } from "./setting.ts";
import { textRule, withoutUserPart } from "./text-rules.ts";

/** Settings that several processes read, each described once; a process spreads the groups it reads into its own. */

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

/** Every process has these. */
export const processSettings = {
  adminHost: text("admin_host", {
    fallback: "127.0.0.1",
    about: "Address the admin port listens on; with a slash, the path of a Unix socket instead of the port",
  }),
  adminPort: port("admin_port", {
    fallback: "8082",
    about: "Port for probes and metrics, never to be exposed; 0 = any free one",
  }),
  allowedHosts: list("allowed_hosts", {
    fallback: "",
    about: "Host names, beside those of this machine, that ports on loopback answer to; *.example.com = all below it",
    rule: textRule.hosts,
  }),
  headersTimeout: duration("headers_timeout", {
    fallback: "10s",
    min: 100,
    max: 300 * second,
    about:
      "Longest a request's head may take, on every port of the process; for the first one of a connection its TLS handshake counts, too",
  }),
  logLevel: choice("log_level", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
    fallback: "info",
    about: "Least severe level that is logged",
  }),
};

/** How a process reaches the broker. */
export const brokerSettings = {
  natsUrl: {
    ...text("nats_url", {
      fallback: "nats://127.0.0.1:4222",
      about: "Addresses of the NATS servers, separated by commas; a process uses any one that answers",
      rule: textRule.brokers,
    }),
    show: withoutUserPart,
  },
  natsUser: optionalText("nats_user", { about: "User at the NATS server" }),
  natsPasswordFile: optionalText("nats_password_file", { about: "File with the password of nats_user" }),
  natsCaFile: optionalText("nats_ca_file", {
    about: "Certificate authority (PEM file) of the NATS server; with it the connection is encrypted",
  }),
  natsPingInterval: duration("nats_ping_interval", {
    fallback: "5s",
    min: 100,
    max: 300 * second,
    about: "Time between pings; two without a reply end the connection; at most 2s if nats_url has several addresses",
  }),
};

/** Names that all processes must agree on. */
export const platformSettings = {
  edition: choice("edition", editionNames, {
    fallback: "enterprise",
    about: "Preset of limits; enterprise restricts nothing",
  }),
  platformNamespace: text("platform_namespace", {
    fallback: "weir",
    about: "Namespace of the platform itself",
    rule: textRule.namespace,
  }),
  functionNamespace: text("function_namespace", {
    fallback: "functions",
    about: "The default namespace of functions",
    rule: textRule.namespace,
  }),
  clusterGatewayUrl: optionalUrl("cluster_gateway_url", {
    about: "Address of the gateway for code in the cluster; derived from platform_namespace when absent",
  }),
};

/** The platform's address for clients outside, which names the issuer of its tokens, too. */
export const publicUrlSetting = optionalUrl("public_url", {
  about: "Address of the gateway for clients outside, e.g. https://weir.example.com",
});

/** Time limits of calls. */
export const callTimeSettings = {
  upstreamTimeout: duration("upstream_timeout", {
    fallback: "30s",
    min: 100,
    max: day,
    about:
      "Longest a synchronous call may take until the head of its reply, sending its own body included; also the limit of a whole queued run if its queue sets none",
  }),
  timeoutMax: duration("timeout_max", {
    fallback: "1h",
    min: 100,
    max: day,
    about: "Longest timeout that a function may set with annotation com.service.timeout",
  }),
  wakeTimeout: duration("wake_timeout", {
    fallback: "60s",
    max: hour,
    about: "Longest a call waits for a replica, before its own timeout begins",
  }),
};

/** Limits for calls that wait for a replica, in each process that calls functions. */
export const wakeSettings = {
  maxWaitingCallers: whole("max_waiting_callers", {
    fallback: "10000",
    min: 1,
    unit: "calls",
    about: "Most calls of this process that may wait for a replica at a time, and as many for the broker to store them",
  }),
  maxWaitingBytes: whole("max_waiting_bytes", {
    fallback: "134217728",
    min: 1,
    unit: "bytes",
    about:
      "Most memory that calls of this process may hold while they wait for a replica, or for the broker to store them",
  }),
};

/** How asynchronous calls and their records are kept. */
export const queueSettings = {
  asyncMaxBody: whole("async_max_body", {
    fallback: "1048576",
    min: 1,
    max: 67_108_864,
    unit: "bytes",
    about: "Most bytes of an asynchronous call's body",
  }),
  ackWait: duration("ack_wait", {
    fallback: "60s",
    min: second,
    max: hour,
    about: "Lease of a claimed call; when its worker is silent for this long, another one takes over",
  }),
  callMaxAge: duration("call_max_age", {
    fallback: "168h",
    min: second,
    max: 90 * day,
    about: "Age at which a call that has not begun is given up",
  }),
  callRecordTtl: duration("call_record_ttl", {
    fallback: "1h",
    max: 90 * day,
    about: "Shortest time for which records of ended calls are kept",
  }),
  maxCallRecords: whole("max_call_records", {
    fallback: "500000",
    min: 100,
    unit: "records",
    about: "Most call records at a time",
  }),
};

/** What an already running broker guarantees. */
export const durabilitySettings = {
  durability: choice("durability", durabilityProfiles, {
    fallback: "interval",
    about:
      "What the broker keeps when the operating system crashes: interval = all but about the last second of calls, always = all, cluster = all, on three servers",
  }),
};

/** Where processes that check or send credentials find them. */
export const credentialSettings = {
  secretMountPath: text("secret_mount_path", {
    fallback: "/var/secrets",
    about: "Directory with the files basic-auth-user, basic-auth-password and invoke-key",
  }),
};

/** Where callbacks may go. */
export const callbackSettings = {
  callbackPolicy: choice("callback_policy", ["any", "public"], {
    fallback: "any",
    about: "Where callbacks may go: public = only public addresses, any = private and loopback ones, too",
  }),
  callbackAllow: list("callback_allow", {
    fallback: "",
    about: "Hosts, host:port or CIDR ranges that callbacks may always go to",
    rule: textRule.targets,
  }),
};

/** Limits of replicas whose function states none, for providers that run functions in containers. */
export const functionLimitSettings = {
  functionMemory: quantity("function_memory", {
    fallback: "512Mi",
    about:
      "Memory that a replica may use if its function states no limit; none = any amount; not used by provider local",
  }),
  functionCpu: quantity("function_cpu", {
    fallback: "1",
    about: "CPUs that a replica may use if its function states no limit; none = any number; not used by provider local",
  }),
};

/** Where the broker's servers report on themselves. */
export const monitorSettings = {
  natsMonitorUrl: monitorUrls("nats_monitor_url", {
    about:
      "Monitoring addresses of the broker's servers, where processes see that one cannot store, and the history since when the only one runs",
  }),
};

/** Settings of leader-elected processes. */
export const leaseSettings = {
  leaseTtl: duration("lease_ttl", {
    fallback: "15s",
    min: second,
    max: hour,
    about: "Time after which the lease of a process that died ends",
  }),
};

/** Where a single machine stores what Kubernetes would store. */
export const machineSettings = {
  secretsDir: text("secrets_dir", { fallback: ".weir/secrets", about: "Directory of secrets: <namespace>/<name>" }),
  logsDir: text("logs_dir", { fallback: ".weir/logs", about: "Directory of logs: <namespace>/<function>/<replica>" }),
};

/** The optional address of a gateway. */
export function optionalUrl(name: string, options: { readonly about: string }) {
  return { ...optionalText(name, { ...options, rule: textRule.url }), kind: "address", show: withoutUserPart };
}

/** The optional monitoring addresses of the broker's servers. */
export function monitorUrls(name: string, options: { readonly about: string }): Setting<readonly string[]> {
  return { ...list(name, { ...options, fallback: "", rule: textRule.addresses }), show: withoutUserPart };
}

/** The default namespace must be one that functions may live in. */
export const namespaceRule: SettingRule<{
  readonly functionNamespace: string;
  readonly platformNamespace: string;
}> = {
  needs: ["functionNamespace", "platformNamespace"],
  sentence: "`function_namespace` is neither `platform_namespace` nor `default`, and does not begin with `kube-`.",
  problems: ({ functionNamespace: name, platformNamespace }) =>
    name === platformNamespace || name === "default" || name.startsWith("kube-")
      ? [`function_namespace: expected another name than platform_namespace, "default" and "kube-…", got "${name}"`]
      : [],
};

/** Time limits of calls may not exceed `timeout_max`. */
export const callTimeRules = [notAbove("upstreamTimeout", "timeoutMax")] as const;

/** A password needs a user. */
export const brokerUserRule: SettingRule<{
  readonly natsUser: string | undefined;
  readonly natsPasswordFile: string | undefined;
}> = {
  needs: ["natsUser", "natsPasswordFile"],
  sentence: "`nats_password_file` needs `nats_user`.",
  problems: ({ natsUser, natsPasswordFile }) =>
    natsPasswordFile !== undefined && natsUser === undefined
      ? ["nats_password_file: expected nats_user with it, got none"]
      : [],
};

/** The waits between retries are in order and within the age limit of a call. */
export const retryRules = [notAbove("retryMinWait", "retryMaxWait"), notAbove("retryMaxWait", "callMaxAge")] as const;

/** Waits and timeouts of callbacks fit within `callback_window`. */
export const callbackRules = [
  notAbove("callbackMinWait", "callbackMaxWait"),
  notAbove("callbackMaxWait", "callbackWindow"),
  notAbove("callbackTimeout", "callbackWindow"),
] as const;

/** The value of cluster_gateway_url or its default (contract §1.1). */
export function clusterGatewayUrl(values: {
  readonly clusterGatewayUrl?: string | undefined;
  readonly platformNamespace: string;
}): string {
  return values.clusterGatewayUrl ?? `http://gateway.${values.platformNamespace}.svc.cluster.local.:8080`;
}

/** Issuer and audience of the tokens of a platform on a cluster: its address for clients outside, else the gateway's. */
export function clusterTokenIssuer(
  values: Parameters<typeof clusterGatewayUrl>[0] & { readonly publicUrl?: string | undefined },
): string {
  return values.publicUrl ?? clusterGatewayUrl(values);
}

/** Settings that only the `main.ts` of a separately started process reads; a host decides these values itself. */
export type ConnectionSetting =
  | keyof typeof brokerSettings
  | keyof typeof clusterSettings
  | keyof typeof monitorSettings
  | Exclude<keyof typeof processSettings, "allowedHosts">
  | keyof typeof machineSettings;
