import type * as pulumi from "@pulumi/pulumi";

import type { Setting, Settings } from "../runtime/settings/setting.ts";
import type { ClusterArgs } from "./cluster.ts";
import type { Tuning } from "./manifests/processes/environment.ts";
import type { generalOptions, groupedOptions } from "./manifests/platform-options.ts";
import type { RolloutGate } from "./rollout/rollout-gate.ts";
import type { SecretReader } from "./rotation/live-secret.ts";
import type { stackGroups, stackOptions } from "./stack-options.ts";

/** Options in the form of a stack, by key: a duration is a text such as `30s`. */
type Said<S extends Settings> = {
  readonly [K in keyof S]?: S[K] extends Setting<infer T> ? SaidValue<T> | undefined : never;
};
type SaidValue<T> = T extends boolean | undefined | readonly string[]
  ? T
  : T extends number
    ? number | string
    : T extends `${infer N extends number}`
      ? T | N
      : T;

type Texts<K extends string> = { readonly [_ in K]?: pulumi.Input<string> | undefined };
type General = Said<Omit<typeof generalOptions, Secret>> & Said<Omit<typeof stackOptions, keyof ClusterArgs | Secret>>;
type Groups = { readonly [K in Exclude<keyof typeof groupedOptions, OpenGroup>]?: Said<(typeof groupedOptions)[K]> };
type Secret = "adminPassword" | "natsPasswords" | "historyDatabase" | "historyDatabaseAuthority";
type OpenGroup = "images" | "ingress" | "console" | "iam";
type IngressText = "host" | "className" | "tlsSecret" | "clusterIssuer";

/**
 * Arguments of a platform: the keys of a stack, without `weir:`, each described in `docs/reference/settings.md`. Values
 * that determine the number or names of objects must be known; passwords, certificates, images and outside names may
 * come from other resources.
 */
export interface WeirPlatformArgs extends General, Groups, Tuning, ClusterArgs {
  /** Generated when absent. */
  readonly adminPassword?: pulumi.Input<string> | undefined;
  /** Address of a PostgreSQL database for the history of calls, with user and password; a disk when absent. */
  readonly historyDatabase?: pulumi.Input<string> | undefined;
  /** PEM. */
  readonly historyDatabaseAuthority?: pulumi.Input<string> | undefined;
  /** For a broker that runs elsewhere, by process. */
  readonly natsPasswords?: Readonly<Record<string, pulumi.Input<string>>> | undefined;
  /** PEM. */
  readonly natsTls?: Texts<keyof typeof stackGroups.natsTls> | undefined;
  readonly timeouts?: Said<typeof stackGroups.timeouts> | undefined;
  readonly images?: (Texts<"weir" | "nats"> & Said<Omit<typeof groupedOptions.images, "weir" | "nats">>) | undefined;
  readonly ingress?: (Texts<IngressText> & Said<Omit<typeof groupedOptions.ingress, IngressText>>) | undefined;
  readonly console?: (Texts<IngressText> & Said<Omit<typeof groupedOptions.console, IngressText>>) | undefined;
  /** Client secrets may come from other resources; `JwtIssuer`, `Policy` and `Role` take such values, too. */
  readonly iam?:
    | (Said<Omit<typeof groupedOptions.iam, "clientSecrets">> & {
        readonly clientSecrets?: Readonly<Record<string, pulumi.Input<string>>> | undefined;
      })
    | undefined;
  /**
   * Whether each part is done only when the cluster reports, to `kubectl`, that all its pods are of the desired version
   * and available. True when absent; false for tests with Pulumi's mocks; a function is a custom gate.
   */
  readonly awaitRollouts?: boolean | RolloutGate | undefined;
  /**
   * Reads the Secrets of keys in the cluster, so that a rotation keeps the key before. When absent, `kubectl` does, or,
   * unless `awaitRollouts` is true, nothing: then a rotation ends all tokens.
   */
  readonly readSecret?: SecretReader | undefined;
}
