import { Secret } from "@pulumi/kubernetes/core/v1/secret.js";
import * as pulumi from "@pulumi/pulumi";

import { managedByWeir, objectLabel } from "../../runtime/api/names.ts";
import { dependenciesOf, namespaceOf, onPlatform, type NamespacedArgs } from "./cluster-args.ts";

/** A secret that functions may mount. */
export interface FunctionSecretArgs extends NamespacedArgs {
  /** Name of the secret; that of the resource when absent. */
  readonly secretName?: string | undefined;
  /** Texts by file name: functions find each in `/var/service/secrets`. */
  readonly files: Readonly<Record<string, pulumi.Input<string>>>;
  /** Type of the core Secret; `kubernetes.io/dockerconfigjson` is for pulling images. */
  readonly type?: "Opaque" | "kubernetes.io/dockerconfigjson" | undefined;
}

/** A secret of functions: a core Secret with the label by which the operator lets functions use it. */
export class FunctionSecret extends pulumi.ComponentResource {
  /** For `secrets` of a function, which then depends on it. */
  readonly secretName: pulumi.Output<string>;

  constructor(name: string, args: FunctionSecretArgs, options: pulumi.ComponentResourceOptions = {}) {
    const placed = onPlatform(args, options);
    super("weir:functions:FunctionSecret", name, {}, placed);
    const { secretName = name, files, type = "Opaque" } = args;
    const secret = new Secret(
      name,
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: secretName,
          namespace: namespaceOf(args),
          labels: { [objectLabel.managedBy]: managedByWeir },
        },
        type,
        data: pulumi.secret(files).apply(inBase64),
      },
      { parent: this, dependsOn: dependenciesOf(placed) },
    );
    this.secretName = secret.metadata.name;
    this.registerOutputs({ secretName: this.secretName });
  }
}

/** Texts in the encoding of a core Secret. */
export function inBase64(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, Buffer.from(text, "utf8").toString("base64")]),
  );
}
