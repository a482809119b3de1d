import { isMapping } from "../runtime/settings/mapping.ts";

/** The key of a stack as `pulumi config set --path` takes it, without `weir:`, such as `natsTls.key`. */
export type KeyPath = string;

/**
 * What of a stack's values is secret and stands in the clear, each with the command that stores it encrypted.
 * `isEncrypted` tells of one value whether its stack keeps it so.
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
function secretPaths({ kubeconfig, adminPassword, natsPasswords, natsTls }: Readonly<Record<string, unknown>>) {
  const paths: KeyPath[] = [];
  if (typeof kubeconfig === "string" && isKubeconfigContent(kubeconfig)) paths.push("kubeconfig");
  if (isSaid(adminPassword)) paths.push("adminPassword");
  if (isMapping(natsPasswords))
    paths.push(
      ...Object.entries(natsPasswords).flatMap(([process, word]) => (isSaid(word) ? [`natsPasswords.${process}`] : [])),
    );
  if (isMapping(natsTls) && isSaid(natsTls["key"])) paths.push("natsTls.key");
  return paths;
}

/** Whether it is the content of a kubeconfig, which holds keys, and not the path of one. */
export function isKubeconfigContent(kubeconfig: string): boolean {
  return /[\n{]/.test(kubeconfig);
}

/** Pulumi asks for the value at the terminal, or reads what has several lines from a file. */
function storingCommand(path: KeyPath): string {
  const file = { kubeconfig: " < kubeconfig", "natsTls.key": " < tls.key" }[path] ?? "";
  return `pulumi config set --secret ${path.includes(".") ? "--path " : ""}weir:${path}${file}`;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
