/**
 * The grammars of names (contract §1.3, `docs/reference/api.md`): one parser per kind, used wherever a name comes in.
 */

const dnsLabel = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const secretName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*$/;
const queueName = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const environmentName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const uuid = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** RFC 1123 label of at most 63 characters. */
export function isFunctionName(text: string): boolean {
  return dnsLabel.test(text);
}

/** RFC 1123 label of at most 63 characters. */
export function isNamespaceName(text: string): boolean {
  return dnsLabel.test(text);
}

/** RFC 1123 labels of at most 63 characters joined by dots, at most 253 in all. */
export function isSecretName(text: string): boolean {
  return text.length <= 253 && secretName.test(text);
}

export function isQueueName(text: string): boolean {
  return queueName.test(text);
}

/** A key of `envVars`. */
export function isEnvironmentName(text: string): boolean {
  return environmentName.test(text);
}

/** The call id in lower case if `text` is a UUID of any version (RFC 9562), else undefined. */
export function parseCallId(text: string): string | undefined {
  return uuid.test(text) ? text.toLowerCase() : undefined;
}

const domain = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*";
const word = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";

/** The same grammars as sources of regular expressions, for schemas. The schema limits the length. */
export const namePattern = {
  function: dnsLabel.source,
  namespace: dnsLabel.source,
  secret: secretName.source,
  queue: queueName.source,
  environment: environmentName.source,
  callId: uuid.source,
  /** Keys of labels and annotations in Kubernetes syntax: `[domain/]word`. */
  key: `^(?:${domain}/)?${word}$`,
  labelValue: `^(?:${word})?$`,
  /** Keys of limits and requests. */
  resource: `^(?:memory|cpu|${domain}/${word})$`,
  /** Amounts of resources; the fraction and the unit are captured groups. */
  quantity: "^[0-9]{1,15}(\\.[0-9]{1,9})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][0-9]{1,2})?$",
} as const;

/** Rules in words, for error sentences. */
export const grammarRule = {
  function: 'only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters',
  namespace: 'only a to z, 0 to 9 and "-" inside are allowed, at most 63 characters',
  secret: 'labels of a to z, 0 to 9 and "-" joined by ".", at most 253 characters',
  key: 'an optional DNS prefix with "/" and a name of at most 63 letters, digits, "-", "_" or "."',
  environment: 'letters, digits, "_", "." and "-", beginning with a letter or "_"',
  resource: "memory, cpu or a device such as nvidia.com/gpu",
  quantity: "a quantity such as 128Mi or 500m",
  queue: 'a to z, 0 to 9, "_" and "-", beginning with a letter or digit, at most 63 characters',
} as const;
