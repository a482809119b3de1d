import type { FunctionRef } from "../../core/functions/function-ref.ts";

/** Names and subjects of everything Weir keeps in the broker, each spelt once. */

export const callbackStream = "CB";
export const deadLetterStream = "DLQ";
export const workersConsumer = "workers";
export const callbacksConsumer = "callbacks";

/** Streams of the audit trail, each with the one subject that it stores. */
export const auditStream = { change: "audit_change", refusal: "audit_refusal" } as const;
export const auditSubject = { change: "audit.change", refusal: "audit.refusal" } as const;

export const bucket = {
  calls: "calls",
  results: "results",
  queues: "queues",
  functions: "functions",
  namespaces: "namespaces",
  endpoints: "endpoints",
  sessions: "sessions",
  requests: "requests",
} as const;

export const signalSubject = { cancelled: "ctl.cancel", ended: "ctl.ended" } as const;

/** Stream of a queue. */
export function queueStream(queue: string): string {
  return `Q_${queue}`;
}

/** Inverse of `queueStream`; undefined for other streams. */
export function queueOfStream(stream: string): string | undefined {
  return stream.startsWith("Q_") ? stream.slice("Q_".length) : undefined;
}

/** Subject of a call of `ref` in `queue`. */
export function queueSubject(queue: string, ref: FunctionRef): string {
  return `q.${queue}.${ref.namespace}.${ref.name}`;
}

/** Inverse of `queueSubject`: the function; undefined for other subjects. */
export function parseQueueSubject(subject: string): FunctionRef | undefined {
  const [first, , namespace, name, ...rest] = subject.split(".");
  if (first !== "q" || namespace === undefined || name === undefined || rest.length > 0) return undefined;
  return { namespace, name };
}

/** Subject of a callback. */
export function callbackSubject(queue: string, ref: FunctionRef): string {
  return `cb.${queue}.${ref.namespace}.${ref.name}`;
}

/** Subject of a dead letter. */
export function deadLetterSubject(queue: string, id: string, kind: "call" | "callback"): string {
  return `dlq.${queue}.${id}.${kind}`;
}

/** Stream that backs a bucket (NATS ADR-8). */
export function bucketStream(name: string): string {
  return `KV_${name}`;
}

/** Subject of a key of a bucket (NATS ADR-8). */
export function keySubject(name: string, key: string): string {
  return `$KV.${name}.${key}`;
}

/** Key of a function; names hold no dots, so the parts can be told apart. */
export function functionKey(ref: FunctionRef): string {
  return `${ref.namespace}.${ref.name}`;
}

/** Inverse of `functionKey`; undefined for other keys. */
export function parseFunctionKey(key: string): FunctionRef | undefined {
  const [namespace, name, ...rest] = key.split(".");
  return namespace === undefined || name === undefined || rest.length > 0 ? undefined : { namespace, name };
}
