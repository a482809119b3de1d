import { parseBoolean } from "../../api/boolean.ts";
import { parseDuration } from "../../api/duration.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { annotation, defaultQueue, keyPrefixes } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { publicly, type PublicSentence } from "../../api/public-sentence.ts";
import { annotationKey } from "../../api/schemas/key-rules.ts";
import type { KeptSyncCalls } from "../history/reports/choose-sync-call.ts";
import { keyReader, type KeyReader } from "../labels/key-reader.ts";
import { quote } from "../quote.ts";
import { corsRule, type CorsRule } from "./cors-rule.ts";

/** Retry rules of one function; what is absent comes from its queue. Durations are milliseconds. */
export interface RetryOverrides {
  readonly attempts?: number;
  readonly codes?: readonly number[];
  readonly minWait?: number;
  readonly maxWait?: number;
}

/** What a deployment says about its calls, parsed once (contract §2.1, §5.2). Durations are milliseconds. */
export interface FunctionLimits {
  /** Undefined: no limit of its own, as `0` says, too. */
  readonly execTimeout: number | undefined;
  /** `com.service.timeout`, which replaces `upstream_timeout`; undefined: the latter applies. */
  readonly timeout: number | undefined;
  readonly queue: string;
  readonly authRequired: boolean;
  /** Claims of its callers that the function is told; undefined: none. */
  readonly authClaims: readonly string[] | undefined;
  /** Calls in flight per ready replica; 0 = no limit. */
  readonly concurrencyMax: number;
  /** How long results of asynchronous calls are kept; 0 = not. */
  readonly resultTtl: number;
  /** How long requests of ended calls are kept; undefined: `history_bodies` applies. */
  readonly historyBodies: number | undefined;
  readonly retry: RetryOverrides;
  /** Undefined: browsers let pages of its own origin read its replies, and what it says itself. */
  readonly cors: CorsRule | undefined;
  readonly protocol: FunctionProtocol;
  /** Which of its synchronous calls the history keeps. */
  readonly historySync: KeptSyncCalls;
}

/** Protocol that a function speaks; `h2c` is unencrypted HTTP/2, and nothing else. */
export type FunctionProtocol = (typeof annotationKey.protocol.words)[number];

/**
 * The protocol that the annotations set.
 * @throws PlatformError `validation_failed` for a value that cannot be used
 */
export function functionProtocol(annotations: FunctionDeployment["annotations"]): FunctionProtocol {
  return keyReader("annotation", annotations)(annotationKey.protocol) ?? "http1";
}

const hour = 3_600_000;
/** Time beyond `exec_timeout` in which a function can report the timeout itself. */
export const execMargin = 1_000;

/** Name of the function's own timeout in error sentences. */
export const timeoutAnnotation = `${keyPrefixes[0]}${annotation.timeout}`;

const ownTimeoutName = publicly`com.service.timeout`;
const upstreamTimeoutName = publicly`upstream_timeout`;
const execTimeoutName = publicly`exec_timeout`;

/**
 * The limits of one deployment.
 * @throws PlatformError `validation_failed` for a value that cannot be used
 */
export function functionLimits(deployment: Pick<FunctionDeployment, "annotations" | "envVars">): FunctionLimits {
  const read = keyReader("annotation", deployment.annotations);
  return {
    execTimeout: readExecTimeout(deployment.envVars),
    timeout: read(annotationKey.timeout),
    queue: read(annotationKey.queue) ?? defaultQueue,
    authRequired: asksForCaller(read(annotationKey.auth), deployment.envVars),
    authClaims: read(annotationKey.authClaims),
    concurrencyMax: read(annotationKey.concurrencyMax) ?? 0,
    resultTtl: read(annotationKey.resultTtl) ?? hour,
    historyBodies: read(annotationKey.historyBodies),
    retry: retryOverrides(read),
    cors: corsRule(read),
    protocol: functionProtocol(deployment.annotations),
    historySync: read(annotationKey.historySync),
  };
}

/** How long one call may take, and the name of the setting or variable that sets it. */
export interface CallLimit {
  readonly timeout: number;
  readonly timeoutName: PublicSentence;
}

/** The platform's own limits, milliseconds. */
export interface PlatformTimes {
  readonly upstreamTimeout: number;
  /** Upper bound of a function's own timeout. */
  readonly timeoutMax: number;
}

type OwnTimes = Pick<FunctionLimits, "execTimeout" | "timeout">;

/** The limit of a synchronous call: the function's timeout, else the platform's, or exec_timeout + 1 s if less. */
export function callLimit({ upstreamTimeout, timeoutMax }: PlatformTimes, own: OwnTimes): CallLimit {
  const limit =
    own.timeout === undefined
      ? { timeout: upstreamTimeout, timeoutName: upstreamTimeoutName }
      : { timeout: Math.min(own.timeout, timeoutMax), timeoutName: ownTimeoutName };
  const { execTimeout } = own;
  return execTimeout !== undefined && execTimeout + execMargin < limit.timeout
    ? { timeout: execTimeout + execMargin, timeoutName: execTimeoutName }
    : limit;
}

/**
 * Timeout of a queued run, milliseconds: the longer of its queue's and the function's, or exec_timeout + 1 s if less.
 */
export function runTimeout(queueTimeout: number, timeoutMax: number, { execTimeout, timeout = 0 }: OwnTimes): number {
  const longest = Math.max(queueTimeout, Math.min(timeout, timeoutMax));
  return execTimeout === undefined ? longest : Math.min(longest, execTimeout + execMargin);
}

/** Images of this API's family ask for a caller by an environment variable; the annotation wins. */
function asksForCaller(auth: "required" | "none" | undefined, envVars: FunctionDeployment["envVars"]): boolean {
  if (auth !== undefined) return auth === "required";
  const text = envVars !== undefined && Object.hasOwn(envVars, "jwt_auth") ? envVars["jwt_auth"] : undefined;
  return text !== undefined && parseBoolean(text) === true;
}

function readExecTimeout(envVars: FunctionDeployment["envVars"]): number | undefined {
  if (envVars === undefined || !Object.hasOwn(envVars, "exec_timeout")) return undefined;
  const text = envVars["exec_timeout"] ?? "";
  if (text === "") return undefined;
  const parsed = parseDuration(text);
  if (parsed === undefined) {
    throw new PlatformError(
      "validation_failed",
      `Cannot read exec_timeout of envVars: expected a duration such as 30s, got ${quote(text)}`,
    );
  }
  return parsed === 0 ? undefined : parsed;
}

function retryOverrides(read: KeyReader): RetryOverrides {
  const attempts = read(annotationKey.retryAttempts);
  const codes = read(annotationKey.retryCodes);
  const minWait = read(annotationKey.retryMinWait);
  const maxWait = read(annotationKey.retryMaxWait);
  if (minWait !== undefined && maxWait !== undefined && minWait > maxWait) {
    throw new PlatformError(
      "validation_failed",
      `Cannot retry with these waits: ${annotation.retryMinWait} is above ${annotation.retryMaxWait}`,
    );
  }
  return {
    ...(attempts === undefined ? {} : { attempts }),
    ...(codes === undefined ? {} : { codes }),
    ...(minWait === undefined ? {} : { minWait }),
    ...(maxWait === undefined ? {} : { maxWait }),
  };
}
