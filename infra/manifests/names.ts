import { createHash } from "node:crypto";

import { processLabel } from "../../runtime/api/accounts.ts";
import { defaultQueue } from "../../runtime/api/names.ts";

/** With prefix and suffix, a name of this length is still a valid label. */
const maxLength = 32;

/** Labels of an object, or of a pod, of one part; `instance` is the name of its Deployment or StatefulSet. */
export function labelsOf(process: string, instance: string = process): Readonly<Record<string, string>> {
  return { ...selectorOf(process, instance), "app.kubernetes.io/part-of": "weir" };
}

/** Labels that select the pods of one Deployment or StatefulSet. */
export function selectorOf(process: string, instance: string = process): Readonly<Record<string, string>> {
  return { [processLabel]: process, "app.kubernetes.io/instance": instance };
}

/** Name of the Deployment of a queue's workers. Names that Kubernetes would refuse are adapted, and stay distinct. */
export function queueWorkerName(queue: string): string {
  if (queue === defaultQueue) return "queue-worker";
  const fit = queue.replaceAll("_", "-").replace(/-+$/, "").slice(0, maxLength);
  const mark = fit === queue ? "" : `-${createHash("sha256").update(queue).digest("hex").slice(0, 8)}`;
  return `queue-worker-${fit}${mark}`;
}

/** Name of the Secret with the password of one user of the broker. */
export function natsSecretName(deployment: string): string {
  return `nats-${deployment}`;
}

/** Secrets of the platform whose values come from elsewhere. */
export const platformSecret = {
  basicAuth: "basic-auth",
  invokeKey: "invoke-key",
  natsTls: "nats-tls",
  natsStore: "nats-store",
  natsRoutes: "nats-routes",
  issuerKey: "issuer-key",
  callbackKey: "callback-key",
  iamClients: "iam-clients",
  historyKey: "history-key",
  historyDatabase: "history-database",
} as const;
