import {
  brokerSettings,
  callbackSettings,
  callTimeSettings,
  machineSettings,
  platformSettings,
  processSettings,
  queueSettings,
  wakeSettings,
  type ConnectionSetting,
} from "../api/platform-settings.ts";
import { duration, flag, list, optionalText, port, text, type Values } from "../api/setting.ts";

/** Every setting that the gateway reads. */
export const gatewaySettings = {
  ...processSettings,
  ...brokerSettings,
  ...platformSettings,
  ...callTimeSettings,
  ...queueSettings,
  ...wakeSettings,
  ...callbackSettings,
  ...machineSettings,

  host: text("host", { fallback: "127.0.0.1", about: "Address the gateway listens on" }),
  port: port("port", { fallback: "8080", about: "Port the gateway listens on; 0 = any free one" }),
  tlsCert: optionalText("tls_cert", { about: "Certificate chain (PEM file); with tls_key the gateway speaks HTTPS" }),
  tlsKey: optionalText("tls_key", { about: "Private key of tls_cert (PEM file)" }),
  publicUrl: optionalText("public_url", {
    about: "Address of the gateway for clients outside, e.g. https://weir.example.com",
  }),

  basicAuth: flag("basic_auth", {
    fallback: "true",
    about: "Whether /system and /ui need the administrator's credentials",
  }),
  secretMountPath: text("secret_mount_path", {
    fallback: "/var/secrets",
    about: "Directory with the files basic-auth-user, basic-auth-password and invoke-key",
  }),
  invokeAuth: flag("invoke_auth", { fallback: "false", about: "Whether every function call needs credentials" }),
  allowedOrigins: list("allowed_origins", {
    fallback: "",
    about: "Origins beside the gateway's own that browsers may call /system from",
  }),
  trustedProxies: list("trusted_proxies", {
    fallback: "",
    about: "Addresses or CIDR ranges whose X-Forwarded headers are believed",
  }),

  namespaceAliases: list("namespace_aliases", {
    fallback: "openfaas-fn",
    about: "Other names of the default namespace",
  }),
  reservedNamespaces: list("reserved_namespaces", {
    fallback: "",
    about: "Namespaces that functions may never live in",
  }),

  headersTimeout: duration("headers_timeout", { fallback: "10s", about: "Longest a request's head may take" }),
  bodySilence: duration("body_silence", { fallback: "30s", about: "Longest a body may go without a byte" }),
  logHeartbeat: duration("log_heartbeat", {
    fallback: "15s",
    about: "Silence after which a log stream sends an empty line",
  }),
  shutdownDelay: duration("shutdown_delay", {
    fallback: "5s",
    about: "Time between being unready and refusing connections at a stop",
  }),
};

/** What the gateway itself needs of them. */
export type GatewaySettings = Omit<Values<typeof gatewaySettings>, ConnectionSetting>;

/** Milliseconds the gateway may take to stop: its delay, the longest call with its wait for a replica, and 5 s. */
export function gatewayDrainTimeout(
  settings: Pick<GatewaySettings, "shutdownDelay" | "upstreamTimeout" | "wakeTimeout">,
): number {
  return settings.shutdownDelay + settings.wakeTimeout + settings.upstreamTimeout + 5_000;
}
