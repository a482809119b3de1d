/** Names of headers, labels, annotations and files on the wire, each spelt once. */

/** Headers of calls and callbacks (contract §4). */
export const header = {
  apiVersion: "X-Api-Version",
  callAttempt: "X-Call-Attempt",
  callDepth: "X-Call-Depth",
  callId: "X-Call-Id",
  callQueued: "X-Call-Queued",
  callbackUrl: "X-Callback-Url",
  durationSeconds: "X-Duration-Seconds",
  forwardedFor: "X-Forwarded-For",
  forwardedHost: "X-Forwarded-Host",
  forwardedProto: "X-Forwarded-Proto",
  functionName: "X-Function-Name",
  functionStatus: "X-Function-Status",
  internal: "X-OpenFaaS-Internal",
  parentCallId: "X-Parent-Call-Id",
  resultTruncated: "X-Result-Truncated",
  retry: "X-Retry",
  retryMax: "X-Retry-Max",
  startTime: "X-Start-Time",
  weirAuth: "X-Weir-Auth",
} as const;

/**
 * Headers by which a proxy states where a request comes from, or what it was before the proxy changed it. Programs
 * believe them, so they come from `trusted_proxies` only. Lower case; names that begin with a prefix are of them, too.
 *
 * `X-HTTP-Method-Override` is not: it is the client's own wish, which it could fulfil by sending that method.
 */
const proxyHeaders: {
  readonly names: ReadonlySet<string>;
  readonly prefixes: readonly string[];
} = {
  names: new Set([
    // The address of the client.
    "ali-cdn-real-ip",
    "ar-real-ip",
    "cdn-src-ip",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "cf-connecting-o2o",
    "cf-pseudo-ipv4",
    "client-ip",
    "cloudfront-viewer-address",
    "do-connecting-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "forwarded",
    "forwarded-for",
    "forwarded-for-ip",
    "incap-client-ip",
    "remote-addr",
    "true-client-ip",
    "wl-proxy-client-ip",
    "x-appengine-remote-addr",
    "x-appengine-user-ip",
    "x-azure-clientip",
    "x-azure-socketip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forward-for",
    "x-forwarded",
    "x-ip",
    "x-nf-client-connection-ip",
    "x-originating-ip",
    "x-proxyuser-ip",
    "x-real-ip",
    "x-remote-addr",
    "x-remote-ip",
    "x-sucuri-clientip",
    "x-true-client-ip",
    "x-true-ip",
    "x-vercel-forwarded-for",
    "x-vercel-proxied-for",
    // Its certificate (RFC 9440, §2.4).
    "client-cert",
    "client-cert-chain",
    // Host, scheme and path, as they were before a proxy.
    "front-end-https",
    "path-info",
    "script-name",
    "x-host",
    "x-http-host-override",
    "x-path-info",
    "x-real-port",
    "x-scheme",
    "x-script-name",
    "x-url-scheme",
  ]),
  prefixes: ["x-envoy-", "x-forwarded-", "x-original-", "x-rewrite-"],
};

/** Whether only a trusted proxy may send the header. */
export function isProxyHeader(lowerName: string): boolean {
  return proxyHeaders.names.has(lowerName) || proxyHeaders.prefixes.some((prefix) => lowerName.startsWith(prefix));
}

/** The identity of the caller, which the gateway sends to functions that ask for it. */
export const principalHeader = {
  subject: "X-Auth-Subject",
  issuer: "X-Auth-Issuer",
  claims: "X-Auth-Claims",
} as const;

/** Headers that sign a callback, as Standard Webhooks names them. */
export const webhookHeader = {
  id: "Webhook-Id",
  timestamp: "Webhook-Timestamp",
  signature: "Webhook-Signature",
} as const;

/** Value of `X-Weir-Auth` in a 401: the gateway asks for credentials, not the function. */
export const authRequired = "required";

/** Value of `X-OpenFaaS-Internal`: the reply comes from the gateway, not from the function. */
export const internalGateway = "gateway";

/** Label and annotation keys may carry either prefix; the first one wins when both are present. */
export const keyPrefixes = ["com.service.", "com.openfaas."] as const;

/** Label keys without prefix (contract §5.1). */
export const label = {
  scaleMax: "scale.max",
  scaleMin: "scale.min",
  scaleZero: "scale.zero",
  scaleZeroDuration: "scale.zero-duration",
  scaleType: "scale.type",
  scaleTarget: "scale.target",
  scaleTargetProportion: "scale.target-proportion",
  scaleDownWindow: "scale.down.window",
} as const;

/** Annotation keys without prefix (contract §2.1). */
export const annotation = {
  auth: "auth",
  authClaims: "auth.claims",
  callbackSecret: "callback.secret",
  concurrencyMax: "concurrency.max",
  corsCredentials: "cors.credentials",
  corsHeaders: "cors.headers",
  corsMaxAge: "cors.max-age",
  corsMethods: "cors.methods",
  corsOrigins: "cors.origins",
  healthPath: "health.http.path",
  historyBodies: "history.bodies",
  historySync: "history.sync",
  profile: "profile",
  protocol: "protocol",
  queue: "queue",
  readyPath: "ready.http.path",
  resultTtl: "result.ttl",
  retryAttempts: "retry.attempts",
  retryCodes: "retry.codes",
  retryMaxWait: "retry.max_wait",
  retryMinWait: "retry.min_wait",
  serviceAccount: "serviceaccount",
  timeout: "timeout",
} as const;

/** Annotation keys without prefix that only provider `local` has a meaning for (contract §2.1). */
export const localAnnotation = { folder: "local.folder", prepare: "local.prepare" } as const;

/** The label that the API shows for every function in addition to the deployed ones. */
export const functionLabel = "faas_function";

/** Labels of the Kubernetes objects that are created, in addition to `functionLabel`. */
export const objectLabel = {
  name: "app.kubernetes.io/name",
  managedBy: "app.kubernetes.io/managed-by",
  /** On a namespace of functions: the namespace of its platform, as a cluster may hold several platforms. */
  platform: "service.com/platform",
} as const;

/** Value of label `app.kubernetes.io/managed-by`. */
export const managedByWeir = "weir";

/** Annotations of Kubernetes objects, for facts that their kinds have no field for. */
export const objectAnnotation = {
  /** Hash of the deployment that was last requested, or seen by the operator. */
  content: "service.com/content",
  createdAt: "service.com/created-at",
  generation: "service.com/generation",
  /** Generation of the last deployment by request, which rolls all replicas. */
  rollout: "service.com/rollout",
  /** The replicas that were last requested, the reason, and the hold on them, as JSON. */
  scaled: "service.com/scaled",
  /** On pods: hash of what they were made from. */
  revision: "service.com/revision",
  updatedAt: "service.com/updated-at",
  /** On `Secret` objects: the parts of the core secret that a request must keep without reading it, as JSON. */
  outline: "service.com/outline",
} as const;

/** Marks a namespace of functions: label or annotation `key` with `value`, or `foreignKey` with any (contract §1.4). */
export const namespaceMarker = {
  key: "com.service.namespace",
  /** Of the key, without prefix. */
  name: "namespace",
  value: "1",
  foreignKey: "openfaas",
} as const;

/** Names of the credential files below `secret_mount_path`. */
export const credentialFile = {
  user: "basic-auth-user",
  password: "basic-auth-password",
  invokeKey: "invoke-key",
  /** Signs callbacks: Ed25519, PEM. The one before it, while receivers may still know only that. */
  callbackKey: "callback-key.pem",
  previousCallbackKey: "callback-key-previous.pem",
  /** Signs tokens: EC P-256, PKCS #8, PEM. The one before it, while tokens that it signed may be valid. */
  issuerKey: "issuer-key.pem",
  previousIssuerKey: "issuer-key-previous.pem",
  /** When `issuerKey` replaced the one before, as text (RFC 3339); on a cluster only. */
  issuerKeyRotated: "issuer-key-rotated",
  /** Signs the workload tokens of one machine: as `issuerKey`. */
  workloadKey: "workload-key.pem",
  /** Issuer name of a machine without `public_url`. */
  issuer: "issuer",
} as const;

/**
 * On Kubernetes, the `Secret` of the platform's namespace with copies of all secrets that callbacks are signed with,
 * and what the names of its files begin with: they are mounted among the credentials.
 */
export const callbackSecretCopies = { object: "callback-secrets", filePrefix: "callback-secret." } as const;

/** Cookies of people who sign in, on https and on http of one machine, where browsers refuse `__Host-`. */
export const sessionCookie = { secure: "__Host-weir", loopback: "weir-session" } as const;
export const loginCookie = { secure: "__Host-weir-login", loopback: "weir-login" } as const;

/** By this header a page shows that it is the one that signed in: a function's page can set cookies, too. */
export const sessionHeader = "X-Weir-Session";

/** Headers between a page of the console and the gateway about calls that the page makes, and their results. */
export const tryHeader = {
  /** Value 1: only a page's own code can send it. */
  page: "X-Weir-Console",
  /** Value 1: the call is to be queued. */
  queued: "X-Weir-Queued",
  /** JSON, pairs of name and value: of the request for the function, or of its reply. */
  headers: "X-Weir-Headers",
  /** Of the function's reply. */
  status: "X-Weir-Status",
  /** Value true: the body goes on, but was cut. */
  truncated: "X-Weir-Truncated",
} as const;

/**
 * Headers of a run that a queue-worker sends through the gateway (contract §4.2); the gateway does not forward them.
 */
export const invokeHeader = { key: "Weir-Invoke", timeout: "Weir-Timeout" } as const;

/** Where a function finds its secrets (contract §7). */
export const secretDirectories = ["/var/service/secrets", "/var/openfaas/secrets"] as const;

/** The variable that tells a function with a service account where its workload token is (contract §7). */
export const tokenFileVariable = "SERVICE_TOKEN_FILE";

/** Where that is: on Kubernetes in a directory of its own, on one machine among the secrets, where no secret has such a name. */
export const workloadTokenFile = { cluster: "/var/service/identity/token", machine: ".service-token" } as const;

/** Where a function that is run from a folder finds it, if the provider can mount it there. */
export const folderDirectory = "/var/service/folder";

/** The queue every platform has. */
export const defaultQueue = "default";

/** Parameters that narrow the list of calls: of its route, of a topic of `GET /system/watch`, and of a page's address. */
export const callFilterNames = [
  "function",
  "namespace",
  "queue",
  "kind",
  "state",
  "status",
  "reason",
  "source",
  "since",
  "until",
  "id",
] as const;
export type CallFilterName = (typeof callFilterNames)[number];
