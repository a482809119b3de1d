import { credentialFile } from "../../runtime/api/names.ts";
import { historyFile } from "../../runtime/settings/history-settings.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { isKeySecret, keyFiles, keySecretsOf, type KeySecret } from "./key-secrets.ts";
import { labelsOf, platformSecret } from "./names.ts";
import { brokerAccounts, routesFile, storeKeyVariable } from "./broker/nats-config.ts";
import type { Platform } from "./platform.ts";

/** The values of all Secrets that the manifests name. Those of the broker consist of letters, digits, `-` and `_`. */
export interface SecretValues {
  readonly adminUser: string;
  readonly adminPassword: string;
  readonly invokeKey: string;
  /** Opens the history to gateways. */
  readonly historyKey?: string;
  /** Address of its database, with user and password. */
  readonly historyDatabase?: string;
  /** By name of the Secret; see `brokerSecretNames`. */
  readonly brokerPasswords: Readonly<Record<string, string>>;
  /** Key of the encrypted store. */
  readonly storeKey: string;
  /** The password that servers of a cluster use among themselves. */
  readonly routePassword: string;
  /** Private keys that sign, PKCS #8 PEM, by name of the Secret; see `keySecretsOf`. */
  readonly signingKeys?: Readonly<Record<string, string>>;
  /** PEM; for `nats.tls`. */
  readonly natsTls?: { readonly certificate: string; readonly key: string; readonly authority: string };
}

/** Names of the Secrets with passwords of the broker's users. */
export function brokerSecretNames(platform: Platform): string[] {
  return brokerAccounts(platform).map(({ secret }) => secret);
}

/** Names of all Secrets that must exist before the pods start. */
export function neededSecretNames({ nats, ...platform }: Platform): string[] {
  return [
    platformSecret.basicAuth,
    platformSecret.invokeKey,
    ...brokerAccounts(platform).map(({ secret }) => secret),
    ...(nats.url === undefined ? [platformSecret.natsStore] : []),
    ...(nats.url === undefined && nats.replicas === "3" ? [platformSecret.natsRoutes] : []),
    ...(nats.tls ? [platformSecret.natsTls] : []),
    ...keySecretsOf(platform),
    ...historySecretNames(platform),
    ...(platform.iam.clientSecrets.length > 0 ? [platformSecret.iamClients] : []),
  ];
}

function historySecretNames({ history, historyDatabase }: Pick<Platform, "history" | "historyDatabase">): string[] {
  if (!history) return [];
  return [platformSecret.historyKey, ...(historyDatabase === undefined ? [] : [platformSecret.historyDatabase])];
}

/**
 * Files of a Secret with one generated word: a password or a key. The administrator's also has `adminUser`.
 * @throws Error when the word could be read as something else in the broker's configuration
 */
export function wordFiles(
  platform: Platform,
  secret: string,
  word: string,
  adminUser: string,
): Readonly<Record<string, string>> {
  if (secret === platformSecret.basicAuth) return { [credentialFile.user]: adminUser, [credentialFile.password]: word };
  if (secret === platformSecret.invokeKey) return { [credentialFile.invokeKey]: word };
  if (secret === platformSecret.historyKey) return { [historyFile.key]: word };
  if (secret === platformSecret.historyDatabase) return { [historyFile.database]: word };
  if (!/^[A-Za-z0-9_-]{16,}$/.test(word))
    throw new Error(`Cannot make secret "${secret}": 16 letters, digits, - and _ or more are needed`);
  if (secret === platformSecret.natsStore) return { "nats.conf": `${storeKeyVariable}: "${word}"\n` };
  if (secret === platformSecret.natsRoutes) return { "nats.conf": routesFile(platform, word) };
  const account = brokerAccounts(platform).find((each) => each.secret === secret);
  return { password: word, "nats.conf": `${account?.variable ?? "password"}: "${word}"\n` };
}

/**
 * The Secrets themselves, except that of the clients at issuers, whose values only those know; nothing else holds
 * values.
 * @throws Error when a value is missing or could be read as something else in the broker's configuration
 */
export function secretManifests(platform: Platform, values: SecretValues): KubernetesObject[] {
  const words = new Map<string, string | undefined>([
    ...Object.entries(values.brokerPasswords),
    [platformSecret.basicAuth, values.adminPassword],
    [platformSecret.invokeKey, values.invokeKey],
    [platformSecret.historyKey, values.historyKey],
    [platformSecret.historyDatabase, values.historyDatabase],
    [platformSecret.natsStore, values.storeKey],
    [platformSecret.natsRoutes, values.routePassword],
  ]);
  const files = (name: string) => {
    if (name === platformSecret.natsTls) return certificateFiles(values);
    if (isKeySecret(name)) return keyFiles(name, { current: givenKey(name, values) });
    const word = words.get(name);
    if (word === undefined) throw new Error(`Cannot make secret "${name}": it has none`);
    return wordFiles(platform, name, word, values.adminUser);
  };
  return neededSecretNames(platform)
    .filter((name) => name !== platformSecret.iamClients)
    .map((name) => ({ ...secretShell(platform, name), stringData: files(name) }));
}

function givenKey(name: KeySecret, { signingKeys = {} }: SecretValues): string {
  const key = signingKeys[name];
  if (key === undefined) throw new Error(`Cannot make secret "${name}": no key was given`);
  return key;
}

/** A Secret of the platform without its values. */
export function secretShell({ platformNamespace: namespace }: Platform, name: string): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: labelsOf(name) },
    type: "Opaque",
  };
}

/** Names of the broker's certificate files. */
export const certificateFile = { certificate: "tls.crt", key: "tls.key", authority: "ca.crt" } as const;

function certificateFiles({ natsTls }: SecretValues): Readonly<Record<string, string>> {
  if (natsTls === undefined)
    throw new Error(
      `Cannot make secret "${platformSecret.natsTls}": no certificate was given; make one, or set nats.tls to false`,
    );
  return {
    [certificateFile.certificate]: natsTls.certificate,
    [certificateFile.key]: natsTls.key,
    [certificateFile.authority]: natsTls.authority,
  };
}
