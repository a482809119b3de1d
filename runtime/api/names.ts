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
} as const;

/** Value of `X-OpenFaaS-Internal`: the reply was made by the gateway and not by the function. */
export const internalGateway = "gateway";

/** Label and annotation keys may carry either prefix; the first one wins when both are there. */
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
  concurrencyMax: "concurrency.max",
  healthPath: "health.http.path",
  protocol: "protocol",
  queue: "queue",
  readyPath: "ready.http.path",
  resultTtl: "result.ttl",
  retryAttempts: "retry.attempts",
  retryCodes: "retry.codes",
  retryMaxWait: "retry.max_wait",
  retryMinWait: "retry.min_wait",
} as const;

/** The label every function reply carries beside those that were deployed. */
export const functionLabel = "faas_function";

/** Names of the credential files below `secret_mount_path`. */
export const credentialFile = {
  user: "basic-auth-user",
  password: "basic-auth-password",
} as const;

/** Where a function finds its secrets (contract §7). */
export const secretDirectories = ["/var/service/secrets", "/var/openfaas/secrets"] as const;

/** The queue every platform has. */
export const defaultQueue = "default";
