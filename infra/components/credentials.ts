import { createHash, createHmac } from "node:crypto";

import * as pulumi from "@pulumi/pulumi";
import { RandomPassword } from "@pulumi/random";

import { historyFile } from "../../runtime/settings/history-settings.ts";
import { databaseAuthorityFile, withAuthority } from "../manifests/history/database-address.ts";
import { isKeySecret, type KeySecret } from "../manifests/key-secrets.ts";
import { natsSecretName, platformSecret } from "../manifests/names.ts";
import type { Platform } from "../manifests/platform.ts";
import { certificateFile, neededSecretNames, secretShell, wordFiles } from "../manifests/secrets.ts";
import type { OpenObject } from "../open-texts.ts";
import type { SecretReader } from "../rotation/live-secret.ts";
import { withCommonLabels } from "../manifests/pods.ts";
import { dependenciesOf } from "./cluster-args.ts";
import { inBase64 } from "./function-secret.ts";
import { NatsCertificate } from "./nats-certificate.ts";
import type { PodAnnotations } from "./pod-annotations.ts";
import { makeResource } from "./resource-kinds.ts";
import { SigningKey } from "./signing-key.ts";

type Files = Readonly<Record<string, pulumi.Input<string>>>;

/** What distinguishes one Secret from others. */
interface SecretContent {
  readonly files: pulumi.Input<Files>;
  readonly annotations?: Files;
}

/** The credentials that are given; the others are generated. */
export interface CredentialsArgs {
  readonly platform: Platform;
  readonly adminUser: string;
  readonly adminPassword?: pulumi.Input<string> | undefined;
  /** When this word changes, all passwords and keys are generated anew. */
  readonly rotation?: string | undefined;
  /** Of a broker that runs elsewhere, by process. */
  readonly natsPasswords: Readonly<Record<string, pulumi.Input<string>>>;
  /** PEM; for a broker that runs elsewhere, only the authority. */
  readonly natsTls: {
    readonly certificate?: pulumi.Input<string> | undefined;
    readonly key?: pulumi.Input<string> | undefined;
    readonly authority?: pulumi.Input<string> | undefined;
  };
  /** Address of the history's database, with user and password. */
  readonly historyDatabase?: pulumi.Input<string> | undefined;
  /** PEM. */
  readonly historyDatabaseAuthority?: pulumi.Input<string> | undefined;
  /** Of the platform's clients at issuers, by name. */
  readonly clientSecrets: Readonly<Record<string, pulumi.Input<string>>>;
  /** Who signs tokens. */
  readonly issuer: pulumi.Input<string>;
  /** Reads the Secrets of keys, of which a rotation keeps the one before. */
  readonly readSecret?: SecretReader | undefined;
}

/** Passwords, keys and the certificate of the platform, each in the Secret that pods mount. */
export class Credentials extends pulumi.ComponentResource {
  readonly adminPassword: pulumi.Output<string>;
  /** Annotations that restart the broker's pods when they must read new credentials. */
  readonly ofServers: PodAnnotations;
  /** The same for the pods of its users. */
  readonly ofUsers: PodAnnotations;
  /** The same for those of the history. */
  readonly ofHistory: PodAnnotations;

  constructor(name: string, args: CredentialsArgs, options: pulumi.ComponentResourceOptions = {}) {
    super("weir:platform:Credentials", name, {}, options);
    const { platform, rotation } = args;
    const dependsOn = dependenciesOf(options);
    const natsTls = this.#certificate(name, args);
    const database = databaseFiles(args);
    const given = new Map<string, pulumi.Input<string>>([
      ...Object.entries(args.natsPasswords).map(([process, word]) => [natsSecretName(process), word] as const),
      ...(args.adminPassword === undefined ? [] : [[platformSecret.basicAuth, args.adminPassword] as const]),
    ]);

    const words = new Map<string, pulumi.Output<string>>();
    const contentOf = (secret: string): SecretContent => {
      if (secret === platformSecret.natsTls) return { files: natsTls };
      if (secret === platformSecret.iamClients) return { files: args.clientSecrets };
      if (secret === platformSecret.historyDatabase) return { files: database };
      if (isKeySecret(secret)) return this.#signingKey(`${name}-${secret}`, secret, args, dependsOn);
      const word = pulumi.secret(given.get(secret) ?? this.#word(`${name}-${secret}`, secret, rotation));
      words.set(secret, word);
      return { files: word.apply((value) => wordFiles(platform, secret, value, args.adminUser)) };
    };
    for (const secret of neededSecretNames(platform)) {
      const { files, annotations } = contentOf(secret);
      const object = {
        ...withCommonLabels(platform, secretShell(platform, secret)),
        data: pulumi.secret(files).apply(inBase64),
      };
      makeResource(`${name}-${secret}`, withAnnotations(object, annotations), { parent: this, dependsOn });
    }

    this.adminPassword = words.get(platformSecret.basicAuth) ?? pulumi.secret("");
    const rotated = rotation === undefined ? {} : { "weir/rotation": rotation };
    this.ofServers = { ...rotated, ...mark("weir/certificate", natsTls[certificateFile.certificate]) };
    this.ofUsers = { ...rotated, ...mark("weir/authority", natsTls[certificateFile.authority]) };
    this.ofHistory = {
      ...this.ofUsers,
      ...keyedMark("weir/database", words.get(platformSecret.historyKey), database),
    };
    this.registerOutputs({});
  }

  /** The files of the broker's certificate; none without TLS. */
  #certificate(name: string, { platform, natsTls }: CredentialsArgs): Files {
    if (!platform.nats.tls) return {};
    const { certificate, key, authority } = natsTls;
    if (authority !== undefined && (certificate === undefined || key === undefined))
      return { [certificateFile.authority]: authority };
    const made =
      certificate === undefined || key === undefined || authority === undefined
        ? new NatsCertificate(`${name}-nats`, { platform }, { parent: this })
        : { certificate, key: pulumi.secret(key), authority };
    return {
      [certificateFile.certificate]: made.certificate,
      [certificateFile.key]: made.key,
      [certificateFile.authority]: made.authority,
    };
  }

  #signingKey(
    name: string,
    secret: KeySecret,
    { platform, rotation, issuer, readSecret }: CredentialsArgs,
    dependsOn: pulumi.Input<pulumi.Resource>[],
  ): SecretContent {
    const signs = secret === platformSecret.issuerKey ? { issuer } : {};
    const { platformNamespace: namespace } = platform;
    return new SigningKey(name, { secret, namespace, rotation, readSecret, ...signs }, { parent: this, dependsOn });
  }

  #word(name: string, secret: string, rotation: string | undefined): pulumi.Output<string> {
    const keepers = rotation === undefined || lasting.includes(secret) ? {} : { keepers: { rotation } };
    return new RandomPassword(
      name,
      { length: 40, special: false, ...keepers },
      { parent: this, additionalSecretOutputs: ["result", "bcryptHash"] },
    ).result;
  }
}

function withAnnotations(object: OpenObject, annotations: Files = {}): OpenObject {
  if (Object.keys(annotations).length === 0) return object;
  return { ...object, metadata: { ...object.metadata, annotations } as OpenObject["metadata"] };
}

/** Not rotated: the store cannot be read without its key, and servers with different route passwords cannot join. */
const lasting: readonly string[] = [platformSecret.natsStore, platformSecret.natsRoutes];

/** A certificate is public, so its hash may be an annotation of pods. */
function mark(annotation: string, pem: pulumi.Input<string> | undefined): PodAnnotations {
  if (pem === undefined) return {};
  const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { [annotation]: pulumi.unsecret(pulumi.output(pem)).apply(hash) };
}

/** The address of the history's database, and the authority that its certificate is verified by, if one is given. */
function databaseFiles(args: CredentialsArgs): Files {
  const { platform, historyDatabase: address, historyDatabaseAuthority: authority } = args;
  if (platform.historyDatabase === undefined || address === undefined) return {};
  if (authority === undefined) return { [historyFile.database]: address };
  return { [historyFile.database]: pulumi.output(address).apply(withAuthority), [databaseAuthorityFile]: authority };
}

/** Shows that secret files are others, and nothing else of them: a plain hash would let passwords be tried. */
function keyedMark(annotation: string, key: pulumi.Output<string> | undefined, files: Files): PodAnnotations {
  if (key === undefined || Object.keys(files).length === 0) return {};
  const marked = pulumi
    .all([key, pulumi.output(files)])
    .apply(([word, content]) => createHmac("sha256", word).update(JSON.stringify(content)).digest("hex").slice(0, 16));
  return { [annotation]: pulumi.unsecret(marked) };
}
