import { join } from "node:path";

import { isLoopbackHost } from "../api/host-grammar.ts";
import { clusterSettings } from "../settings/cluster-settings.ts";
import { drainRule, drainSettings, drainTimeoutOf, type DrainFacts } from "../settings/drain-settings.ts";
import { egressRule, egressSettings } from "../settings/egress-settings.ts";
import { historyAddressSettings, historyFile, historySwitch, keptLogSettings } from "../settings/history-settings.ts";
import {
  brokerSettings,
  callTimeRules,
  callbackSettings,
  callTimeSettings,
  credentialSettings,
  durabilitySettings,
  machineSettings,
  monitorSettings,
  namespaceRule,
  platformSettings,
  processSettings,
  queueSettings,
  wakeSettings,
  type ConnectionSetting,
  publicUrlSetting,
} from "../settings/platform-settings.ts";
import { differentPorts } from "../settings/setting-rules.ts";
import { duration, flag, list, optionalText, port, share, text, whole, type Values } from "../settings/setting.ts";
import { textRule } from "../settings/text-rules.ts";

const second = 1_000;

/** Every setting that the gateway reads. */
export const gatewaySettings = {
  ...processSettings,
  ...brokerSettings,
  ...monitorSettings,
  ...platformSettings,
  ...clusterSettings,
  ...callTimeSettings,
  ...drainSettings,
  ...queueSettings,
  ...wakeSettings,
  ...callbackSettings,
  ...egressSettings,
  ...machineSettings,

  host: text("host", { fallback: "127.0.0.1", about: "Address the gateway listens on" }),
  port: port("port", { fallback: "8080", about: "Port the gateway listens on; 0 = any free one" }),
  tlsCert: optionalText("tls_cert", { about: "Certificate chain (PEM file); with tls_key the gateway speaks HTTPS" }),
  tlsKey: optionalText("tls_key", { about: "Private key of tls_cert (PEM file)" }),
  publicUrl: publicUrlSetting,
  hstsMaxAge: duration("hsts_max_age", {
    fallback: "8760h",
    about: "With tls_cert, how long browsers are told to use HTTPS alone for this host, at all its ports; 0 = not",
  }),

  consolePort: port("console_port", {
    fallback: "0",
    about: "Port that people sign in at, with a browser; 0 = none",
  }),
  consoleHost: optionalText("console_host", {
    about: "Address that console_port listens on; that of host when absent",
  }),
  consoleOrigins: list("console_origins", {
    fallback: "",
    about: "Origins that browsers know console_port by, the first one is the one to show; empty = loopback only",
    rule: textRule.origins,
  }),

  basicAuth: flag("basic_auth", {
    fallback: "true",
    about: "Whether /system and /ui need the administrator's credentials",
  }),
  ...credentialSettings,
  ...durabilitySettings,
  invokeAuth: flag("invoke_auth", { fallback: "false", about: "Whether every function call needs credentials" }),
  allowedOrigins: list("allowed_origins", {
    fallback: "",
    about: "Origins beside the gateway's own that browsers may call /system from",
    rule: textRule.origins,
  }),
  trustedProxies: list("trusted_proxies", {
    fallback: "",
    about: "Addresses or CIDR ranges whose X-Forwarded and other headers of proxies are believed",
    rule: textRule.addressRanges,
  }),

  namespaceAliases: list("namespace_aliases", {
    fallback: "openfaas-fn",
    about: "Other names of the default namespace",
    rule: textRule.namespaces,
  }),
  reservedNamespaces: list("reserved_namespaces", {
    fallback: "",
    about: "Namespaces that functions may never live in",
    rule: textRule.namespaces,
  }),

  acceptTimeout: duration("accept_timeout", {
    fallback: "12s",
    min: second,
    max: 60 * second,
    about:
      "Longest an asynchronous call waits until the broker has stored it; with a broker of one server 3s at most, as none takes its place",
  }),
  bodyIdleTimeout: duration("body_idle_timeout", {
    fallback: "30s",
    min: 100,
    max: 3_600_000,
    about: "Longest a body may go without a byte",
  }),
  maxConnectionsPerClient: whole("max_connections_per_client", {
    fallback: "0",
    unit: "connections",
    about:
      "Most connections of one client at a time, 0 = any number; an IPv6 /64 is one client, loopback and trusted_proxies are not counted",
  }),
  streamIdleTimeout: duration("stream_idle_timeout", {
    fallback: "60s",
    min: 100,
    max: 86_400_000,
    about: "Longest a reply that began may go without a byte in either direction; it has no other limit",
  }),
  websocketIdleTimeout: duration("websocket_idle_timeout", {
    fallback: "10m",
    min: 100,
    max: 86_400_000,
    about: "Longest a WebSocket may go without a byte",
  }),
  accessLog: flag("access_log", { fallback: "false", about: "Whether each call is logged, in one line" }),
  ...historySwitch,
  ...historyAddressSettings,
  keptLogs: keptLogSettings.keptLogs,
  historySyncSample: share("history_sync_sample", {
    fallback: "0.001",
    about: "Share of synchronous calls that the history keeps, beside those that failed or waited for a replica",
  }),
  logHeartbeatPeriod: duration("log_heartbeat_period", {
    fallback: "15s",
    min: 100,
    max: 3_600_000,
    about: "Silence after which a log stream sends an empty line",
  }),
  scaleHold: duration("scale_hold", {
    fallback: "5m",
    max: 86_400_000,
    about: "How long the autoscaler leaves a count alone that was set by /system/scale-function; 0 = not at all",
  }),
  shutdownDelay: duration("shutdown_delay", {
    fallback: "5s",
    max: 3_600_000,
    about: "Time between being unready and refusing connections at a stop",
  }),
};

/** Rules that span several settings. */
export const gatewayRules = [namespaceRule, reservedRule(), ...callTimeRules, drainRule, egressRule, consoleRule()];

/** Rule for the ports of a gateway in its own process. */
export const gatewayPortRule = differentPorts(["port", "adminPort", "consolePort"]);

/** The values that the gateway itself uses. */
export type GatewaySettings = Omit<
  Values<typeof gatewaySettings>,
  Exclude<ConnectionSetting, "headersTimeout"> | "durability" | "historyUrl" | "keptLogs"
>;

/** How a gateway in its own process asks the history; undefined = there is none. */
export function historyPlace({
  history,
  historyUrl: address,
  secretMountPath,
  keptLogs,
}: Pick<Values<typeof gatewaySettings>, "history" | "historyUrl" | "secretMountPath" | "keptLogs">) {
  if (!history || address === undefined) return undefined;
  return { address, keyFile: join(secretMountPath, historyFile.key), keptLogs };
}

/**
 * Milliseconds that the gateway may take to stop: the shutdown delay, the drain timeout for calls in flight, and 5 s.
 */
export function gatewayDrainTimeout(settings: DrainFacts & Pick<GatewaySettings, "shutdownDelay">): number {
  return settings.shutdownDelay + drainTimeoutOf(settings) + 5_000;
}

function reservedRule() {
  return {
    needs: ["functionNamespace", "reservedNamespaces"],
    sentence: "`reserved_namespaces` does not hold `function_namespace`.",
    problems: (values: { readonly functionNamespace: string; readonly reservedNamespaces: readonly string[] }) =>
      values.reservedNamespaces.includes(values.functionNamespace)
        ? [`reserved_namespaces: expected no function_namespace in it, got "${values.functionNamespace}"`]
        : [],
  } as const;
}

/** A session's cookie may only travel encrypted, or within this machine. */
function consoleRule() {
  return {
    needs: ["consoleOrigins"],
    sentence: "`console_origins` are https, unless they are loopback.",
    problems: ({ consoleOrigins }: { readonly consoleOrigins: readonly string[] }) =>
      consoleOrigins
        .filter((origin) => !isSafeOrigin(origin))
        .map((origin) => `console_origins: Cannot serve the console on "${origin}": a session needs https`),
  } as const;
}

function isSafeOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && (url.protocol === "https:" || isLoopbackHost(url.hostname.replace(/^\[|\]$/g, "")));
}
