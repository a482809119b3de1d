import { isMapping } from "../runtime/settings/mapping.ts";
import { unreadDatabase } from "./manifests/history/database-address.ts";

/** A key of a stack in the form of `pulumi config set --path`, without `weir:`, such as `natsTls.key`. */
export type KeyPath = string;

/** Beginning of the path of a client's secret, which its name follows. */
export const clientSecretPrefix = "iam.clientSecrets.";

/**
 * Problems for secret values of a stack that are not encrypted, each with the command that stores it encrypted.
 * `isEncrypted` tells whether the stack stores a value encrypted.
 */
export function secretsInTheClear(
  given: Readonly<Record<string, unknown>>,
  isEncrypted: (path: KeyPath) => boolean,
): string[] {
  return secretPaths(given)
    .filter((path) => !isEncrypted(path))
    .map((path) => `${path}: expected it encrypted: ${storingCommand(path)}`);
}

/** Paths of all values that are secret. */
function secretPaths(given: Readonly<Record<string, unknown>>) {
  const { kubeconfig, adminPassword, historyDatabase, natsPasswords, natsTls, iam } = given;
  const paths: KeyPath[] = [];
  if (typeof kubeconfig === "string" && isKubeconfigContent(kubeconfig)) paths.push("kubeconfig");
  if (isGiven(adminPassword)) paths.push("adminPassword");
  if (isGiven(historyDatabase) && historyDatabase !== unreadDatabase) paths.push("historyDatabase");
  if (isMapping(natsPasswords))
    paths.push(
      ...Object.entries(natsPasswords).flatMap(([process, word]) =>
        isGiven(word) ? [`natsPasswords.${process}`] : [],
      ),
    );
  if (isMapping(natsTls) && isGiven(natsTls["key"])) paths.push("natsTls.key");
  const clients = isMapping(iam) ? iam["clientSecrets"] : undefined;
  for (const [name, secret] of Object.entries(isMapping(clients) ? clients : {}))
    if (isGiven(secret)) paths.push(clientSecretPrefix + name);
  return paths;
}

/** Whether this is the content of a kubeconfig, which holds keys, rather than a path. */
export function isKubeconfigContent(kubeconfig: string): boolean {
  return /[\n{]/.test(kubeconfig);
}

/** Pulumi asks for the value at the terminal; a value of several lines is read from a file. */
function storingCommand(path: KeyPath): string {
  const file = { kubeconfig: " < kubeconfig", "natsTls.key": " < tls.key" }[path] ?? "";
  return `pulumi config set --secret ${path.includes(".") ? "--path " : ""}${shellKey(path)}${file}`;
}

/** The name of a client may have dots, which would be a path. */
function shellKey(path: KeyPath): string {
  const name = path.startsWith(clientSecretPrefix) ? path.slice(clientSecretPrefix.length) : "";
  if (!name.includes(".")) return `weir:${path}`;
  return `'weir:${clientSecretPrefix.slice(0, -1)}["${name}"]'`;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
