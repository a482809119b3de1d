import { PlatformError, type ErrorCode, type PlatformErrorOptions } from "../../../api/platform-error.ts";
import type { KubeStatus, KubeStatusCause } from "./kube-types.ts";

/** What the API server answered instead of doing what it was asked. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number;
  /** E.g. `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`; empty when it gave none. */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly KubeStatusCause[];
  /** Milliseconds after which it may be asked again. */
  readonly retryAfter?: number;
}

/** A request that the API server refused. Adapters that know a better code for it throw an error of their own. */
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

/** Whether `err` says that an object of that name is there already. */
export function isAlreadyThere(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 409) && err.refusal.reason === "AlreadyExists";
}

/** Whether `err` says that the object was changed since it was read, or is another one than was meant. */
export function isConflict(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 409) && err.refusal.reason !== "AlreadyExists";
}

/** Whether `err` says that what was to be created has no namespace, or one that is being deleted. */
export function isNamespaceGone(err: unknown): err is KubeRefusalError {
  if (isNotFound(err)) return err.refusal.message.startsWith('namespaces "');
  return isForbidden(err) && err.refusal.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

/** Whether `err` says that this account may not do that. */
export function isForbidden(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 403);
}

/** Whether `err` says that the version, or the page of a list, is no longer known. */
export function isGone(err: unknown): err is KubeRefusalError {
  return hasStatus(err, 410);
}

function hasStatus(err: unknown, status: number): err is KubeRefusalError {
  return err instanceof KubeRefusalError && err.refusal.status === status;
}

const mostCharacters = 2_000;

/** Reads an answer from status 300 on. `body` is what came, however little it looks like a Status. */
export function readRefusal(status: number, body: unknown, retryAfter?: number): Refusal {
  const said = isStatus(body) ? body : undefined;
  const seconds = said?.details?.retryAfterSeconds;
  const after = retryAfter ?? (typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined);
  const message = typeof said?.message === "string" && said.message !== "" ? said.message : undefined;
  return {
    status,
    reason: typeof said?.reason === "string" ? said.reason : "",
    message: (message ?? `the API server answered ${status}`).slice(0, mostCharacters),
    causes: Array.isArray(said?.details?.causes) ? said.details.causes : [],
    ...(after === undefined ? {} : { retryAfter: after }),
  };
}

function isStatus(body: unknown): body is KubeStatus {
  return typeof body === "object" && body !== null && "kind" in body && body.kind === "Status";
}

/** Which word the platform has for a refusal when nobody knows better. */
function codeOf(status: number): ErrorCode {
  if (status === 400 || status === 422) return "validation_failed";
  if (status === 413) return "payload_too_large";
  return status === 429 || status >= 500 ? "provider_unavailable" : "internal_error";
}
