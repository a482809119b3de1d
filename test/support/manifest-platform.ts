import { keySecretsOf, keySecretUse, type KeySecret } from "../../infra/manifests/key-secrets.ts";
import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";
import { platformManifests } from "../../infra/manifests/platform-manifests.ts";
import { brokerSecretNames, type SecretValues } from "../../infra/manifests/secrets.ts";

/** Values for all Secrets of a platform, all different; `natsTls` is the certificate, if any. */
export function secretValues(platform: Platform, natsTls?: SecretValues["natsTls"]): SecretValues {
  return {
    adminUser: "admin",
    adminPassword: "password-of-the-administrator",
    invokeKey: "key-of-the-queue-workers",
    historyKey: "key-of-the-history",
    historyDatabase: "postgres://weir:word-of-the-history@db/calls",
    brokerPasswords: Object.fromEntries(brokerSecretNames(platform).map((name) => [name, `password-of-${name}`])),
    storeKey: "key-of-the-encrypted-store",
    routePassword: "password-of-the-routes",
    signingKeys: Object.fromEntries(keySecretsOf(platform).map((name) => [name, signingKey(name)])),
    ...(natsTls === undefined ? {} : { natsTls }),
  };
}

/** A new key of the kind that this Secret of the platform holds, PKCS #8 PEM. */
export function signingKey(name: KeySecret): string {
  return makeSigningKey(keySecretUse[name]);
}

/** All objects of a platform, except custom resource definitions and Secrets, which are built elsewhere. */
export function objectsOf(platform: Platform): KubernetesObject[] {
  return platformManifests(platform).flatMap(({ objects }) => objects);
}

/** The one object of this kind and name. */
export function objectNamed(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`expected one ${kind} "${name}", got ${found.length}`);
  return first;
}

/** The part of a pod template that tests check. */
export interface PodSpecView {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [
    {
      readonly image: string;
      readonly command?: readonly string[];
      readonly args?: readonly string[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly resources: {
        readonly requests: Readonly<Record<string, string>>;
        readonly limits: Readonly<Record<string, string>>;
      };
      readonly securityContext: Readonly<Record<string, unknown>>;
      readonly volumeMounts: readonly {
        readonly name: string;
        readonly mountPath: string;
        readonly readOnly?: boolean;
      }[];
      readonly livenessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
      readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
    },
  ];
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
}

/** The pods of a Deployment or StatefulSet. */
export function podsOf(object: KubernetesObject): PodSpecView {
  const spec = object["spec"] as { readonly template: { readonly spec: PodSpecView } };
  return spec.template.spec;
}

/** The environment variables of its one container. */
export function variablesOf(object: KubernetesObject): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(podsOf(object).containers[0].env.map(({ name, value }) => [name, value]));
}
