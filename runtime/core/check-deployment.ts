import { formatDuration } from "../api/duration.ts";
import type { FunctionDeployment } from "../api/function-deployment.ts";
import { grammarRule, isFunctionName, isSecretName } from "../api/grammar.ts";
import { annotation } from "../api/names.ts";
import { PlatformError } from "../api/platform-error.ts";
import { checkResources } from "./check-resources.ts";
import { functionLimits } from "./function-limits.ts";
import { keyReader } from "./key-reader.ts";
import { isLabelKey, isLabelValue, labelRule } from "./label-syntax.ts";
import { probeRules } from "./probe-rules.ts";
import { quote } from "./quote.ts";
import { scaleRules } from "./scale-rules.ts";

/** Most bytes of all keys and values of envVars, and of annotations. */
const textBytes = 262_144;

/** Annotation keys that only this check knows yet; the ones with effect are in `api/names.ts`. */
const storedAnnotation = { profile: "profile", serviceAccount: "serviceaccount" } as const;

/**
 * Checks all that the schema of a deployment cannot say (contract §2, §2.1, §5.1).
 * @throws PlatformError `validation_failed` for the first rule that is broken; `not_built` for protocol h2c
 */
export function checkDeployment(deployment: FunctionDeployment): void {
  if (!isFunctionName(deployment.service)) throw refusal("service", grammarRule.function, deployment.service);
  if (deployment.image.includes("://"))
    throw refusal("image", "expected an image reference without a scheme", deployment.image);
  checkEnvironment(deployment);
  checkLabels(deployment.labels ?? {});
  checkAnnotations(deployment.annotations ?? {});
  checkSecretNames(deployment.secrets ?? []);
  checkResources(deployment);
  scaleRules(deployment.labels);
  functionLimits(deployment);
  probeRules(deployment.annotations);
  checkStoredKeys(deployment);
}

/**
 * Checks that a call can last as long as the function says (contract §5.2).
 * @throws PlatformError `validation_failed` when exec_timeout is above both limits; the sentence names them
 */
export function checkExecTimeout(deployment: FunctionDeployment, upstreamTimeout: number, queueTimeout: number): void {
  const { execTimeout, queue } = functionLimits(deployment);
  if (execTimeout === undefined || execTimeout <= Math.max(upstreamTimeout, queueTimeout)) return;
  const limits = `upstream_timeout (${formatDuration(upstreamTimeout)}) and the timeout of queue "${queue}" (${formatDuration(queueTimeout)})`;
  throw new PlatformError(
    "validation_failed",
    `Cannot deploy function "${deployment.service}": exec_timeout ${formatDuration(execTimeout)} is above ${limits}`,
  );
}

function checkEnvironment({ envProcess = "", envVars = {} }: FunctionDeployment): void {
  if (Buffer.byteLength(envProcess) > 4_096 || envProcess.includes("\0")) {
    throw refusal("envProcess", "expected at most 4096 bytes without NUL", envProcess);
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(envVars)) {
    if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(key)) {
      throw refusal(
        "envVars",
        'expected keys of letters, digits, "_", "." and "-" that begin with a letter or "_"',
        key,
      );
    }
    if (value.includes("\0"))
      throw new PlatformError("validation_failed", `Cannot read field "envVars.${key}": its value holds NUL`);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > textBytes) throw tooLong("envVars", bytes);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) throw refusal("labels", labelRule.key, key);
    if (!isLabelValue(value)) throw refusal(`labels.${key}`, labelRule.value, value);
  }
}

function checkAnnotations(annotations: Readonly<Record<string, string>>): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (!isLabelKey(key)) throw refusal("annotations", labelRule.key, key);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > textBytes) throw tooLong("annotations", bytes);
}

function checkSecretNames(secrets: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of secrets) {
    if (!isSecretName(name)) throw refusal("secrets", grammarRule.secret, name);
    if (seen.has(name)) throw refusal("secrets", "expected no secret twice", name);
    seen.add(name);
  }
}

function checkStoredKeys({ service, annotations }: FunctionDeployment): void {
  const keys = keyReader("annotation", annotations);
  keys.text(storedAnnotation.profile, "names separated by commas", (names) =>
    names.split(",").every((name) => isSecretName(name.trim())),
  );
  keys.text(storedAnnotation.serviceAccount, "the name of a service account", isSecretName);
  if (keys.choice(annotation.protocol, ["http1", "h2c"]) === "h2c") {
    throw new PlatformError("not_built", `Cannot deploy function "${service}": protocol h2c is not built yet`);
  }
}

function refusal(field: string, rule: string, value: string): PlatformError {
  return new PlatformError("validation_failed", `Cannot read field "${field}" ${quote(value)}: ${rule}`);
}

function tooLong(field: string, bytes: number): PlatformError {
  return new PlatformError(
    "validation_failed",
    `Cannot read field "${field}": ${bytes} bytes are over the limit of ${textBytes}`,
  );
}
