import * as pulumi from "@pulumi/pulumi";

import { checkConfig, configNamespace, type StackConfig } from "./check-config.ts";
import { isKubeconfigContent } from "./stack-secrets.ts";

/** A checked configuration for a program: what is secret is marked, wherever it is handed on to. */
export interface ProgramConfig extends Omit<StackConfig, "kubeconfig" | "adminPassword" | "natsPasswords" | "natsTls"> {
  readonly kubeconfig?: pulumi.Input<string> | undefined;
  readonly adminPassword?: pulumi.Input<string> | undefined;
  readonly natsPasswords: Readonly<Record<string, pulumi.Input<string>>>;
  readonly natsTls: Omit<StackConfig["natsTls"], "key"> & { readonly key?: pulumi.Input<string> | undefined };
}

/**
 * What the stack's configuration says under `weir:`.
 * @throws RunError with every problem at once, each naming key, value and rule
 */
export function readConfig(): ProgramConfig {
  const prefix = `${configNamespace}:`;
  const all = Object.entries<string>(pulumi.runtime.allConfig());
  const own = all.filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]);
  const { config, problems } = checkConfig(Object.fromEntries(own), {
    // Of a group the engine says only that something in it is encrypted.
    isEncrypted: (path) => isSecretKey(prefix + (path.split(".")[0] ?? "")),
  });
  if (config === undefined)
    throw new pulumi.RunError(["Cannot read the configuration of the stack:", ...problems].join(`\n  ${prefix}`));
  return withSecrets(config);
}

function withSecrets({ kubeconfig, adminPassword, natsPasswords, natsTls, ...rest }: StackConfig): ProgramConfig {
  const { key, ...certificates } = natsTls;
  return Object.freeze({
    ...rest,
    kubeconfig: kubeconfig !== undefined && isKubeconfigContent(kubeconfig) ? pulumi.secret(kubeconfig) : kubeconfig,
    adminPassword: adminPassword === undefined ? undefined : pulumi.secret(adminPassword),
    natsPasswords: Object.fromEntries(
      Object.entries(natsPasswords).map(([process, word]) => [process, pulumi.secret(word)]),
    ),
    natsTls: { ...certificates, key: key === undefined ? undefined : pulumi.secret(key) },
  });
}

/** Whether the engine calls the value of a key secret. The SDK knows; its declarations leave the function out. */
function isSecretKey(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { readonly isConfigSecret?: (key: string) => boolean };
  if (isConfigSecret === undefined)
    throw new Error("Cannot tell secret configuration: this SDK of Pulumi does not say");
  return isConfigSecret(key);
}
