import { PlatformError, type ErrorCode, type PlatformErrorOptions } from "../../../api/platform-error.ts";
import type { KubeStatus, KubeStatusCause } from "./kube-types.ts";

/** Why the API server refused a request, read from its response. */
export interface Refusal {
  /** The HTTP status. */
  readonly status: number;
  /** E.g. `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`; empty when it gave none. */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly KubeStatusCause[];
  /** Milliseconds after which the request may be sent again. */
  readonly retryAfter?: number;
}

/** A request that the API server refused. Adapters that know a better code throw their own error. */
export class KubeRefusalError extends PlatformError {
  readonly refusal: Refusal;

  constructor(task: string, refusal: Refusal) {
    super(codeOf(refusal.status), `Cannot ${task}: ${refusal.message}`, retryOptions(refusal.retryAfter));
    this.refusal = refusal;
  }
}

function retryOptions(retryAfter: number | undefined): PlatformErrorOptions {
  if (retryAfter === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.max(Math.ceil(retryAfter / 1_000), 1), 30) };
}

/** Whether `err` says that there is no such object. */
export function isNotFound(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 404);
}

/** Whether `err` says that an object of that name exists already. */
export function isAlreadyExists(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 409) && err.refusal.reason === "AlreadyExists";
}

/** Whether `err` says that the object was changed since it was read, or is not the one that was meant. */
export function isConflict(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 409) && err.refusal.reason !== "AlreadyExists";
}

/** Whether `err` says that the uid of the object of that name is not the one that was sent. */
export function isUidMismatch(err: unknown): err is KubeRefusalError {
  return isConflict(err) && err.refusal.message.includes("UID in precondition");
}

/** Whether `err` says that the namespace of an object to create does not exist, or is being deleted. */
export function isNamespaceMissing(err: unknown): err is KubeRefusalError {
  if (isNotFound(err)) return err.refusal.message.startsWith('namespaces "');
  return isForbidden(err) && err.refusal.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Whether `err` says that this account has no right to do that. */
export function isForbidden(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 403);
}

/** Whether `err` says that the resource version, or the page of a list, has expired. */
export function isGone(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 410);
}

function hasStatus(err: unknown, status: number): err is KubeRefusalError {
  return err instanceof KubeRefusalError && err.refusal.status === status;
}

const maxCharacters = 2_000;

/** Reads a response with status 300 or above. `body` need not be a Status. */
export function readRefusal(status: number, body: unknown, retryAfter?: number): Refusal {
  const kubeStatus = isStatus(body) ? body : undefined;
  const seconds = kubeStatus?.details?.retryAfterSeconds;
  const after = retryAfter ?? (typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined);
  const message = typeof kubeStatus?.message === "string" && kubeStatus.message !== "" ? kubeStatus.message : undefined;
  return {
    status,
    reason: typeof kubeStatus?.reason === "string" ? kubeStatus.reason : "",
    message: (message ?? `the API server responded with status ${status}`).slice(0, maxCharacters),
    causes: Array.isArray(kubeStatus?.details?.causes) ? kubeStatus.details.causes : [],
    ...(after === undefined ? {} : { retryAfter: after }),
  };
}

function isStatus(body: unknown): body is KubeStatus {
  return typeof body === "object" && body !== null && "kind" in body && body.kind === "Status";
}

/** The platform's code for a refusal, for callers that know no better one. */
function codeOf(status: number): ErrorCode {
  if (status === 400 || status === 422) return "validation_failed";
  if (status === 413) return "payload_too_large";
  return status === 429 || status >= 500 ? "provider_unavailable" : "internal_error";
}
