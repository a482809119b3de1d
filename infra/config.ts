import { existsSync } from "node:fs";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../runtime/settings/mapping.ts";
import { checkConfig, configNamespace, structuredValues } from "./check-config.ts";
import { isEncryptedIn, readStackFile, type StackFile } from "./stack-file.ts";
import { isKubeconfigContent } from "./stack-secrets.ts";
import type { WeirPlatformArgs } from "./weir-platform-args.ts";

/**
 * The stack's configuration under `weir:` as arguments of a platform, with secret values marked. `directory` holds the
 * file of the stack: that of the project, unless `Pulumi.yaml` says otherwise.
 * @throws RunError with every problem at once, each naming key, value and rule
 */
export function readConfig(directory = pulumi.getRootDirectory()): WeirPlatformArgs {
  const prefix = `${configNamespace}:`;
  const all = Object.entries<string>(pulumi.runtime.allConfig());
  const own = all.filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]);
  const given = Object.fromEntries(own) as Readonly<Record<string, string>>;
  // For a group, the engine only reports that something in it is encrypted; the file of the stack shows what.
  const file = openStackFile(directory);
  const { config, problems } = checkConfig(given, {
    isEncrypted: (path) =>
      isSecretKey(prefix + (path.split(".")[0] ?? "")) && (file === undefined || isEncryptedIn(file, path)),
  });
  if (config === undefined)
    throw new pulumi.RunError(["Cannot read the configuration of the stack:", ...problems].join(`\n  ${prefix}`));
  return withSecrets(structuredValues(given));
}

/** Undefined if the configuration is stored elsewhere. */
function openStackFile(directory: string): StackFile | undefined {
  const path = join(directory, `Pulumi.${pulumi.getStack()}.yaml`);
  return existsSync(path) ? readStackFile(path) : undefined;
}

function withSecrets(values: Readonly<Record<string, unknown>>): WeirPlatformArgs {
  const { kubeconfig, adminPassword, historyDatabase, natsPasswords, natsTls, iam, ...rest } = values;
  const isContent = typeof kubeconfig === "string" && isKubeconfigContent(kubeconfig);
  const args: Record<string, unknown> = { ...rest };
  if (kubeconfig !== undefined) args["kubeconfig"] = isContent ? pulumi.secret(kubeconfig) : kubeconfig;
  if (adminPassword !== undefined) args["adminPassword"] = pulumi.secret(adminPassword);
  if (historyDatabase !== undefined) args["historyDatabase"] = pulumi.secret(historyDatabase);
  if (isMapping(natsPasswords)) args["natsPasswords"] = eachSecret(natsPasswords, Object.keys(natsPasswords));
  if (isMapping(natsTls)) args["natsTls"] = eachSecret(natsTls, ["key"]);
  if (iam !== undefined) args["iam"] = withSecretClients(iam);
  return args;
}

function withSecretClients(iam: unknown): unknown {
  if (!isMapping(iam) || !isMapping(iam["clientSecrets"])) return iam;
  const { clientSecrets } = iam;
  return { ...iam, clientSecrets: eachSecret(clientSecrets, Object.keys(clientSecrets)) };
}

function eachSecret(values: Readonly<Record<string, unknown>>, secrets: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, secrets.includes(key) ? pulumi.secret(value) : value]),
  );
}

/** Whether the engine marks the value of a key as secret. The SDK has this function; its declarations omit it. */
function isSecretKey(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { readonly isConfigSecret?: (key: string) => boolean };
  if (isConfigSecret === undefined)
    throw new Error("Cannot tell secret configuration: this Pulumi SDK has no isConfigSecret");
  return isConfigSecret(key);
}
