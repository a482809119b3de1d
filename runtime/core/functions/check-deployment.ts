import { formatDuration } from "../../api/duration.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { grammarRule, isEnvironmentName, isFunctionName, isSecretName } from "../../api/grammar.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { annotationKey, mostText } from "../../api/schemas/key-rules.ts";
import { badField, checkAnnotations, checkLabels, tooLong } from "../labels/check-labels.ts";
import { checkResources } from "./check-resources.ts";
import { functionLimits, timeoutAnnotation, type PlatformTimes } from "./function-limits.ts";
import { localFolder } from "./local-folder.ts";
import { keyReader } from "../labels/key-reader.ts";
import { probeRules } from "../replicas/probe-rules.ts";
import { scaleRules } from "../scaling/scale-rules.ts";
import { unknownKey } from "../labels/unknown-keys.ts";

/**
 * Checks all that the schema of a deployment cannot express (contract §2, §2.1, §5.1).
 * @throws PlatformError `validation_failed` for the first rule that is broken
 */
export function checkDeployment(deployment: FunctionDeployment): void {
  if (!isFunctionName(deployment.service)) throw badField("service", grammarRule.function, deployment.service);
  if (deployment.image.includes("://"))
    throw badField("image", "expected an image reference without a scheme", deployment.image);
  checkEnvironment(deployment);
  checkLabels(deployment.labels ?? {});
  checkAnnotations(deployment.annotations ?? {});
  const unknown = unknownKey(deployment);
  if (unknown !== undefined) throw new PlatformError("validation_failed", unknown);
  checkSecretNames(deployment.secrets ?? []);
  checkResources(deployment);
  scaleRules(deployment.labels);
  functionLimits(deployment);
  probeRules(deployment.annotations);
  localFolder(deployment.annotations);
  checkStoredKeys(deployment);
}

/**
 * Checks the timeout that a function asks for.
 * @throws PlatformError `validation_failed` when it is above `timeoutMax` milliseconds
 */
export function checkTimeoutMax(deployment: FunctionDeployment, timeoutMax: number): void {
  const { timeout } = functionLimits(deployment);
  if (timeout === undefined || timeout <= timeoutMax) return;
  throw new PlatformError(
    "validation_failed",
    `Cannot deploy function "${deployment.service}": ${timeoutAnnotation} ${formatDuration(timeout)} is above timeout_max (${formatDuration(timeoutMax)}), a setting of the gateway`,
  );
}

/**
 * Checks that a call can last as long as `exec_timeout` says (contract §5.2); `queueTimeout` is that of its queue.
 * @throws PlatformError `validation_failed` when exec_timeout is above both limits; the sentence names them
 */
export function checkExecTimeout(
  deployment: FunctionDeployment,
  { upstreamTimeout }: Pick<PlatformTimes, "upstreamTimeout">,
  queueTimeout: number,
): void {
  const { execTimeout, timeout, queue } = functionLimits(deployment);
  const own = timeout ?? upstreamTimeout;
  if (execTimeout === undefined || execTimeout <= Math.max(own, queueTimeout)) return;
  const name = timeout === undefined ? "upstream_timeout" : timeoutAnnotation;
  const limits = `${name} (${formatDuration(own)}) and the timeout of queue "${queue}" (${formatDuration(queueTimeout)})`;
  throw new PlatformError(
    "validation_failed",
    `Cannot deploy function "${deployment.service}": exec_timeout ${formatDuration(execTimeout)} is above ${limits}; set annotation ${timeoutAnnotation} to ${formatDuration(execTimeout)} or more`,
  );
}

/** Linux starts no program with a longer variable: MAX_ARG_STRLEN of 128 KiB, less `=` and NUL (execve(2)). */
const maxVariableBytes = 131_070;

function checkEnvironment({ envProcess = "", envVars = {} }: FunctionDeployment): void {
  if (Buffer.byteLength(envProcess) > 4_096 || envProcess.includes("\0")) {
    throw badField("envProcess", "expected at most 4096 bytes without NUL", envProcess);
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(envVars)) {
    if (!isEnvironmentName(key)) {
      throw badField("envVars", `expected keys of ${grammarRule.environment}`, key);
    }
    if (value.includes("\0"))
      throw new PlatformError("validation_failed", `Cannot read field "envVars.${key}": its value holds NUL`);
    const length = Buffer.byteLength(key) + Buffer.byteLength(value);
    if (length > maxVariableBytes) {
      throw new PlatformError(
        "validation_failed",
        `Cannot read field "envVars.${key}": name and value have ${length} bytes, over the limit of ${maxVariableBytes} for one variable; put large values into a secret or the image`,
      );
    }
    bytes += length;
  }
  if (bytes > mostText) throw tooLong("envVars", bytes);
}

function checkSecretNames(secrets: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of secrets) {
    if (!isSecretName(name)) throw badField("secrets", grammarRule.secret, name);
    if (seen.has(name)) throw badField("secrets", "expected no secret twice", name);
    seen.add(name);
  }
}

function checkStoredKeys({ annotations }: FunctionDeployment): void {
  const read = keyReader("annotation", annotations);
  read(annotationKey.callbackSecret);
  read(annotationKey.profile);
  read(annotationKey.serviceAccount);
}
