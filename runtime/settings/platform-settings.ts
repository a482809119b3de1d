import type { clusterSettings } from "./cluster-settings.ts";
import { durabilityProfiles } from "../api/durability-profile.ts";
import { editionNames } from "../api/editions.ts";
import { notAbove, type SettingRule } from "./setting-rules.ts";
import { choice, duration, list, optionalText, port, quantity, text, whole, type Setting } from "./setting.ts";
import { textRule, withoutUserPart } from "./text-rules.ts";

/** Settings that several processes read, each described once; a process spreads in the groups it reads. */

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

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
  natsUrl: {
    ...text("nats_url", {
      fallback: "nats://127.0.0.1:4222",
      about: "Addresses of the NATS server, separated by commas",
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
    about: "Time between pings; two that stay unanswered end the connection",
  }),
};

/** Names every part must agree on. */
export const platformSettings = {
  edition: choice("edition", editionNames, {
    fallback: "enterprise",
    about: "Preset of limits; enterprise withholds nothing",
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
    about: "Address of the gateway for code in the cluster; made from platform_namespace when absent",
  }),
};

/** Time limits of calls. */
export const callTimeSettings = {
  upstreamTimeout: duration("upstream_timeout", {
    fallback: "30s",
    min: 100,
    max: day,
    about:
      "Longest a synchronous call may take to the head of its reply, its own body included; all of a queued run where its queue says nothing",
  }),
  timeoutMax: duration("timeout_max", {
    fallback: "1h",
    min: 100,
    max: day,
    about: "Longest timeout that a function may ask for with annotation com.service.timeout",
  }),
  wakeTimeout: duration("wake_timeout", {
    fallback: "60s",
    max: hour,
    about: "Longest a call waits for a replica, before its own time begins",
  }),
};

/** Waiting for replicas, in each process that calls functions. */
export const wakeSettings = {
  maxWaitingCallers: whole("max_waiting_callers", {
    fallback: "10000",
    min: 1,
    unit: "calls",
    about: "Most calls of this process that wait for a replica",
  }),
  maxWaitingBytes: whole("max_waiting_bytes", {
    fallback: "134217728",
    min: 1,
    unit: "bytes",
    about: "Most memory of the calls of this process that wait for a replica",
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
    about: "Lease after which a call is taken from a worker that went silent",
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
    about: "How long records of ended calls are kept at least",
  }),
  maxCallRecords: whole("max_call_records", {
    fallback: "500000",
    min: 100,
    unit: "records",
    about: "Most call records at a time",
  }),
};

/** What the broker that runs already promises. */
export const durabilitySettings = {
  durability: choice("durability", durabilityProfiles, {
    fallback: "interval",
    about:
      "What the broker keeps when the operating system crashes: all but 0.1 s of calls, all, or all on three servers",
  }),
};

/** Where credentials lie, for those who check or send them. */
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
    about: "public: only public addresses; any: also private and loopback ones",
  }),
  callbackAllow: list("callback_allow", {
    fallback: "",
    about: "Hosts, host:port or CIDR ranges that callbacks may always go to",
    rule: textRule.targets,
  }),
};

/** What replicas get of functions that state no limits, for those who run functions in containers. */
export const functionLimitSettings = {
  functionMemory: quantity("function_memory", {
    fallback: "512Mi",
    about: "Memory that a replica may use whose function states no limit; none = any amount; not under provider local",
  }),
  functionCpu: quantity("function_cpu", {
    fallback: "1",
    about:
      "Processors that a replica may use whose function states no limit; none = any number; not under provider local",
  }),
};

/** Processes of which only one acts at a time. */
export const leaseSettings = {
  leaseTtl: duration("lease_ttl", {
    fallback: "15s",
    min: second,
    max: hour,
    about: "Time after which the lease of a process that died is free",
  }),
};

/** Where one machine keeps what Kubernetes keeps itself. */
export const machineSettings = {
  secretsDir: text("secrets_dir", { fallback: ".weir/secrets", about: "Directory of secrets: <namespace>/<name>" }),
  logsDir: text("logs_dir", { fallback: ".weir/logs", about: "Directory of logs: <namespace>/<function>/<replica>" }),
};

/** Text that is the address of a gateway; may be left out. */
export function optionalUrl(name: string, options: { readonly about: string }) {
  return { ...optionalText(name, { ...options, rule: textRule.url }), kind: "address", show: withoutUserPart };
}

/** Where the monitoring of a broker's servers answers; may be left out. */
export function monitorUrls(name: string, options: { readonly about: string }): Setting<readonly string[]> {
  return { ...list(name, { ...options, fallback: "", rule: textRule.addresses }), show: withoutUserPart };
}

/** The default namespace is one that functions may live in. */
export const namespaceRule: SettingRule<{
  readonly functionNamespace: string;
  readonly platformNamespace: string;
}> = {
  needs: ["functionNamespace", "platformNamespace"],
  sentence: "`function_namespace` is neither `platform_namespace` nor `default` nor begins with `kube-`.",
  problems: ({ functionNamespace: name, platformNamespace }) =>
    name === platformNamespace || name === "default" || name.startsWith("kube-")
      ? [`function_namespace: expected another name than platform_namespace, "default" and "kube-…", got "${name}"`]
      : [],
};

/** Limits of calls keep within the longest that there may be. */
export const callTimeRules = [notAbove("upstreamTimeout", "timeoutMax")] as const;

/** A password belongs to a user. */
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

/** Retries of a queue keep within themselves and within the life of a call. */
export const retryRules = [notAbove("retryMinWait", "retryMaxWait"), notAbove("retryMaxWait", "callMaxAge")] as const;

/** Callbacks keep within the time in which they are tried. */
export const callbackRules = [
  notAbove("callbackMinWait", "callbackMaxWait"),
  notAbove("callbackMaxWait", "callbackWindow"),
  notAbove("callbackTimeout", "callbackWindow"),
] as const;

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
  | keyof typeof clusterSettings
  | keyof typeof processSettings
  | keyof typeof machineSettings;
