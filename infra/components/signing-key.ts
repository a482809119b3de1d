import * as pulumi from "@pulumi/pulumi";
import { PrivateKey } from "@pulumi/tls";

import { signingKeyOverlap } from "../../runtime/api/iam/signing-keys.ts";
import { keyFiles, keysIn, type KeySecret } from "../manifests/key-secrets.ts";
import { platformSecret } from "../manifests/names.ts";
import { decideKeptKeys } from "../rotation/decide-kept-keys.ts";
import type { SecretReader } from "../rotation/live-secret.ts";

type Texts = Readonly<Record<string, string>>;

/** A key that signs, in the Secret of this name. */
export interface SigningKeyArgs {
  readonly secret: KeySecret;
  readonly namespace: string;
  /** When this word changes, another key comes into force. */
  readonly rotation?: string | undefined;
  /** The issuer of tokens, for the key that signs them. */
  readonly issuer?: pulumi.Input<string> | undefined;
  /** Reads what the cluster has; absent where no cluster is asked: then a rotation keeps nothing. */
  readonly readSecret?: SecretReader | undefined;
}

const algorithms = {
  [platformSecret.issuerKey]: { algorithm: "ECDSA", ecdsaCurve: "P256" },
  [platformSecret.callbackKey]: { algorithm: "ED25519" },
} as const;

const hour = 3_600_000;

/** Annotation of the Secret with the issuer of tokens, which the next run compares. */
const issuerNote = "weir/issuer";

/**
 * A key that signs, and the one before it. That one is read from the cluster: a program knows the resources that it
 * creates, and not what they replace.
 */
export class SigningKey extends pulumi.ComponentResource {
  /** Content of its Secret, marked as secret. */
  readonly files: pulumi.Output<Texts>;
  /** Of its Secret. */
  readonly annotations: Readonly<Record<string, pulumi.Input<string>>>;

  constructor(name: string, args: SigningKeyArgs, options: pulumi.ComponentResourceOptions = {}) {
    super("weir:platform:SigningKey", name, {}, options);
    const { secret, namespace, rotation, issuer, readSecret } = args;
    const key = new PrivateKey(
      // A rotation is another resource, as this kind has no `keepers`.
      rotation === undefined ? name : `${name}-${rotation}`,
      algorithms[secret],
      {
        parent: this,
        // The cluster is read once the key exists, and only then is it sure to be there.
        ...(options.dependsOn === undefined ? {} : { dependsOn: options.dependsOn }),
        additionalSecretOutputs: ["privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"],
      },
    );
    this.files = pulumi
      .secret(key.privateKeyPemPkcs8)
      .apply((current) => pulumi.all([current, readSecret?.(namespace, secret), issuer]))
      .apply(([current, live, signer]) => {
        const known = keysIn(secret, live?.files ?? {});
        const { keys, endsEarly } = decideKeptKeys({ current, live: known, now: Date.now() });
        const hours = signingKeyOverlap / hour;
        if (endsEarly)
          warn(`${secret}: rotated again within ${hours} h; what the key before last signed is no longer valid`);
        warnOfIssuer(signer, live?.annotations[issuerNote]);
        return keyFiles(secret, keys);
      });
    this.annotations = issuer === undefined ? {} : { [issuerNote]: issuer };
    this.registerOutputs({});
  }
}

function warnOfIssuer(issuer: string | undefined, known: string | undefined): void {
  if (issuer === undefined || known === undefined || issuer === known) return;
  warn(`publicUrl: all tokens issued so far end, as their issuer changes from ${known} to ${issuer}`);
}

function warn(sentence: string): void {
  void pulumi.log.warn(sentence);
}
