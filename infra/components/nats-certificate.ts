import * as pulumi from "@pulumi/pulumi";
import { CertRequest, LocallySignedCert, PrivateKey, SelfSignedCert } from "@pulumi/tls";

import { natsHosts } from "../manifests/broker/nats-addresses.ts";
import type { Platform } from "../manifests/platform.ts";

const year = 365 * 24;
/** Hours: in the second half of either lifetime, `pulumi up` makes a new certificate. */
const authorityLife = { validityPeriodHours: 20 * year, earlyRenewalHours: 10 * year };
const serverLife = { validityPeriodHours: 4 * year, earlyRenewalHours: 2 * year };

/** PEM of a certificate, its key and its authority. */
export interface Certificate {
  readonly certificate: pulumi.Input<string>;
  readonly key: pulumi.Input<string>;
  readonly authority: pulumi.Input<string>;
}

/** A certificate for the broker's servers, signed by an authority that signs nothing else. */
export class NatsCertificate extends pulumi.ComponentResource implements Certificate {
  readonly certificate: pulumi.Output<string>;
  readonly key: pulumi.Output<string>;
  readonly authority: pulumi.Output<string>;

  constructor(name: string, { platform }: { readonly platform: Platform }, options?: pulumi.ComponentResourceOptions) {
    super("weir:platform:NatsCertificate", name, {}, options);
    const child = { parent: this };
    const keyOf = (owner: string) =>
      pulumi.secret(
        new PrivateKey(
          owner,
          { algorithm: "ECDSA", ecdsaCurve: "P256" },
          { ...child, additionalSecretOutputs: ["privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"] },
        ).privateKeyPem,
      );

    const authorityKey = keyOf(`${name}-authority`);
    const authority = new SelfSignedCert(
      `${name}-authority`,
      {
        privateKeyPem: authorityKey,
        subject: { commonName: `broker of ${platform.platformNamespace}` },
        isCaCertificate: true,
        setSubjectKeyId: true,
        allowedUses: ["cert_signing", "crl_signing", "digital_signature"],
        ...authorityLife,
      },
      child,
    );

    this.key = keyOf(`${name}-server`);
    const request = new CertRequest(
      `${name}-server`,
      { privateKeyPem: this.key, subject: { commonName: "nats" }, dnsNames: natsHosts(platform) },
      child,
    );
    const certificate = new LocallySignedCert(
      `${name}-server`,
      {
        certRequestPem: request.certRequestPem,
        caPrivateKeyPem: authorityKey,
        caCertPem: authority.certPem,
        // Servers of a cluster are clients of each other.
        allowedUses: ["digital_signature", "key_encipherment", "server_auth", "client_auth"],
        ...serverLife,
      },
      child,
    );
    this.certificate = certificate.certPem;
    this.authority = authority.certPem;
    this.registerOutputs({});
  }
}
