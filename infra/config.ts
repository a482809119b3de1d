import { existsSync } from "node:fs";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../runtime/settings/mapping.ts";
import { checkConfig, configNamespace, structuredValues } from "./check-config.ts";
import { isEncryptedIn, readStackFile, type StackFile } from "./stack-file.ts";
import { isKubeconfigContent } from "./stack-secrets.ts";
import type { WeirPlatformArgs } from "./weir-platform-args.ts";

/**
 * What the stack's configuration says under `weir:`, as arguments of a platform; what is secret is marked.
 * `directory` is where the file of the stack lies: that of the project, unless `Pulumi.yaml` says otherwise.
 * @throws RunError with every problem at once, each naming key, value and rule
 */
export function readConfig(directory = pulumi.getRootDirectory()): WeirPlatformArgs {
  const prefix = `${configNamespace}:`;
  const all = Object.entries<string>(pulumi.runtime.allConfig());
  const own = all.filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]);
  const given = Object.fromEntries(own) as Readonly<Record<string, string>>;
  // Of a group the engine says only that something in it is encrypted; what, the file of the stack tells.
  const file = openStackFile(directory);
  const { config, problems } = checkConfig(given, {
    isEncrypted: (path) =>
      isSecretKey(prefix + (path.split(".")[0] ?? "")) && (file === undefined || isEncryptedIn(file, path)),
  });
  if (config === undefined)
    throw new pulumi.RunError(["Cannot read the configuration of the stack:", ...problems].join(`\n  ${prefix}`));
  return withSecrets(structuredValues(given));
}

/** Undefined where the configuration lies elsewhere. */
function openStackFile(directory: string): StackFile | undefined {
  const path = join(directory, `Pulumi.${pulumi.getStack()}.yaml`);
  return existsSync(path) ? readStackFile(path) : undefined;
}

function withSecrets(values: Readonly<Record<string, unknown>>): WeirPlatformArgs {
  const { kubeconfig, adminPassword, natsPasswords, natsTls, ...rest } = values;
  const isContent = typeof kubeconfig === "string" && isKubeconfigContent(kubeconfig);
  const args: Record<string, unknown> = { ...rest };
  if (kubeconfig !== undefined) args["kubeconfig"] = isContent ? pulumi.secret(kubeconfig) : kubeconfig;
  if (adminPassword !== undefined) args["adminPassword"] = pulumi.secret(adminPassword);
  if (isMapping(natsPasswords)) args["natsPasswords"] = eachSecret(natsPasswords, Object.keys(natsPasswords));
  if (isMapping(natsTls)) args["natsTls"] = eachSecret(natsTls, ["key"]);
  return args;
}

function eachSecret(values: Readonly<Record<string, unknown>>, secrets: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, secrets.includes(key) ? pulumi.secret(value) : value]),
  );
}

/** Whether the engine calls the value of a key secret. The SDK knows; its declarations leave the function out. */
function isSecretKey(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { readonly isConfigSecret?: (key: string) => boolean };
  if (isConfigSecret === undefined)
    throw new Error("Cannot tell secret configuration: this SDK of Pulumi does not say");
  return isConfigSecret(key);
}
