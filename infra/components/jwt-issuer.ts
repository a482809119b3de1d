import * as pulumi from "@pulumi/pulumi";

import { hasClusterKeys } from "../../runtime/api/iam/cluster-keys.ts";
import type { JwtIssuerSpec } from "../../runtime/api/resources/iam-resources.ts";
import { issuerDiscoveryBinding } from "../manifests/iam/issuer-discovery.ts";
import { dependenciesOf, onPlatform } from "./cluster-args.ts";
import { checkedSpec, iamObject, platformNamespaceOf, type IamObjectArgs } from "./iam-object.ts";
import { makeResource } from "./resource-kinds.ts";

/** The fields of a JwtIssuer object. */
export interface JwtIssuerArgs extends IamObjectArgs {
  /** Name of the issuer; that of the resource when absent. */
  readonly issuerName?: string | undefined;
  readonly iss: pulumi.Input<JwtIssuerSpec["iss"]>;
  readonly aud: pulumi.Input<pulumi.Input<string>[]>;
  /** Determines rights, so it must be known: `https://kubernetes.default.svc` is the platform's own cluster. */
  readonly issInternal?: string | undefined;
  readonly tokenExpiry?: pulumi.Input<string> | undefined;
  readonly login?: pulumi.Input<NonNullable<JwtIssuerSpec["login"]>> | undefined;
}

/** An issuer whose tokens the platform trusts. */
export class JwtIssuer extends pulumi.ComponentResource {
  readonly issuerName: pulumi.Output<string>;

  constructor(name: string, args: JwtIssuerArgs, options: pulumi.ComponentResourceOptions = {}) {
    const placed = onPlatform(args, options);
    const {
      platform: _platform,
      platformNamespace: _namespace,
      awaitReady: _await,
      issuerName = name,
      ...fields
    } = args;
    const spec = checkedSpec("JwtIssuer", issuerName, args, fields);
    super("weir:iam:JwtIssuer", name, {}, placed);
    const child = {
      parent: this,
      dependsOn: dependenciesOf(placed),
      ...(options.customTimeouts && { customTimeouts: options.customTimeouts }),
    };
    const done = iamObject("JwtIssuer", name, { args, objectName: issuerName, spec }, child);
    if (hasClusterKeys(args.issInternal))
      makeResource(
        `${name}-discovery`,
        issuerDiscoveryBinding(platformNamespaceOf(args), `${issuerName}-issuer-discovery`),
        child,
      );
    this.issuerName = done.apply(() => issuerName);
    this.registerOutputs({ issuerName: this.issuerName });
  }
}
