import * as pulumi from "@pulumi/pulumi";

import type { ClusterArgs } from "./cluster.ts";
import { isKubeconfigContent } from "./stack-secrets.ts";

/** The command that forwards 127.0.0.1:8080 to the gateway of a platform in the given cluster. */
export function portForwardCommand({ kubeconfig, context }: ClusterArgs, namespace: string): pulumi.Output<string> {
  // Content is secret, and kubectl reads it from a file whose path only the owner knows.
  const path = typeof kubeconfig === "string" && !isKubeconfigContent(kubeconfig) ? kubeconfig : undefined;
  return pulumi
    .output(context)
    .apply((name) =>
      [
        "kubectl",
        ...flag("--kubeconfig", path),
        ...flag("--context", name),
        `-n ${namespace} port-forward service/gateway 8080:8080`,
      ].join(" "),
    );
}

function flag(name: string, value: string | undefined): string[] {
  return value === undefined || value === "" ? [] : [name, shellWord(value)];
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
