import { createPublicKey } from "node:crypto";

import { expect, test } from "vitest";

import { keyFiles, keysIn, keySecretsOf } from "../../../../infra/manifests/key-secrets.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { neededSecretNames } from "../../../../infra/manifests/secrets.ts";
import { editionNames } from "../../../../runtime/api/editions.ts";
import { objectNamed, objectsOf, podsOf, signingKey } from "../../../support/manifest-platform.ts";
import { notEmpty } from "../../../support/not-empty.ts";

interface Source {
  readonly secret?: {
    readonly name: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
    readonly optional?: boolean;
  };
}

/** What the pods of a workload find below `/var/secrets`, by Secret; "*" stands for all files. */
function mountedIn(input: Readonly<Record<string, unknown>>, kind: string, name: string): readonly Source[] {
  const { volumes, containers } = podsOf(objectNamed(objectsOf(readPlatform(input)), kind, name));
  const sources = volumes.flatMap(
    ({ projected }) => (projected as { readonly sources: readonly Source[] } | undefined)?.sources ?? [],
  );
  if (sources.length > 0) expect(containers[0].volumeMounts.length).toBe(volumes.length);
  return sources;
}
const filesOf = (sources: readonly Source[], secret: string) =>
  sources.flatMap((source) =>
    source.secret?.name !== secret
      ? []
      : (source.secret.items?.map(({ key, path }) => `${key} as ${path}${source.secret?.optional ? "?" : ""}`) ?? [
          `*${source.secret.optional ? "?" : ""}`,
        ]),
  );

const enterprise = { edition: "enterprise", nats: { replicas: 3 }, queues: { reports: {} } };

test("an edition without identity and access has no issuer key; every edition signs callbacks", () => {
  for (const edition of editionNames)
    expect(keySecretsOf(readPlatform({ edition }))).toEqual(
      edition === "enterprise" ? ["callback-key", "issuer-key"] : ["callback-key"],
    );
});

test("gateways have the issuer key and public halves, queue-workers the callback key, and nobody else any of it", () => {
  const gateway = mountedIn(enterprise, "Deployment", "gateway");
  expect(filesOf(gateway, "issuer-key")).toEqual(["*"]);
  expect(filesOf(gateway, "callback-key")).toEqual([
    "callback-key-public.pem as callback-key.pem",
    "callback-key-previous-public.pem as callback-key-previous.pem?",
  ]);
  expect(filesOf(gateway, "callback-secrets")).toEqual([]);
  for (const worker of ["queue-worker", "queue-worker-reports"]) {
    const sources = mountedIn(enterprise, "Deployment", worker);
    expect(filesOf(sources, "issuer-key")).toEqual([]);
    expect(filesOf(sources, "callback-key")).toEqual([
      "callback-key.pem as callback-key.pem",
      "callback-key-previous.pem as callback-key-previous.pem?",
    ]);
    expect(filesOf(sources, "callback-secrets")).toEqual(["*?"]);
  }
  const workloads = objectsOf(readPlatform(enterprise)).filter(
    ({ kind }) => kind === "Deployment" || kind === "StatefulSet",
  );
  const holders = ["gateway", "queue-worker", "queue-worker-reports"];
  const others = workloads.filter(({ metadata }) => !holders.includes(metadata.name));
  expect(others.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    "autoscaler",
    "history",
    "nats",
    "operator",
    "queue-doctor",
  ]);
  const text = JSON.stringify(notEmpty(others, "other workload").map(podsOf));
  for (const secret of ["issuer-key", "callback-key", "iam-clients", "callback-secrets"])
    expect(text).not.toContain(secret);
});

test("secrets of clients at issuers are in a directory of the gateways, and in no other pod", () => {
  const input = { ...enterprise, iam: { clientSecrets: { "corp.sso": "s3cret-of-sso", github: "s3cret-of-github" } } };
  expect(filesOf(mountedIn(input, "Deployment", "gateway"), "iam-clients")).toEqual([
    "corp.sso as iam-clients/corp.sso",
    "github as iam-clients/github",
  ]);
  expect(neededSecretNames(readPlatform(input))).toContain("iam-clients");
  const text = JSON.stringify(objectsOf(readPlatform(input)));
  expect(text.split('"name":"iam-clients"')).toHaveLength(2);
  expect(text).not.toContain("s3cret");
  expect(mountedIn(enterprise, "Deployment", "gateway").map(({ secret }) => secret?.name)).not.toContain("iam-clients");
});

test("the files of a key are the key, the one before, and when that was; gateways need public halves of callback keys", () => {
  const [current, previous] = [signingKey("callback-key"), signingKey("callback-key")];
  const rotatedAt = Date.parse("2026-03-01T12:00:00Z");
  const spki = (pem: string) => createPublicKey(pem).export({ type: "spki", format: "pem" });
  expect(keyFiles("callback-key", { current })).toEqual({
    "callback-key.pem": current,
    "callback-key-public.pem": spki(current),
  });
  const rotated = keyFiles("callback-key", { current, previous, rotatedAt });
  expect(rotated).toEqual({
    "callback-key.pem": current,
    "callback-key-public.pem": spki(current),
    "callback-key-previous.pem": previous,
    "callback-key-previous-public.pem": spki(previous),
    "callback-key-rotated": "2026-03-01T12:00:00.000Z",
  });
  expect(keysIn("callback-key", rotated)).toEqual({ current, previous, rotatedAt });
  expect(keyFiles("issuer-key", { current: "a", previous: "b", rotatedAt })).toEqual({
    "issuer-key.pem": "a",
    "issuer-key-previous.pem": "b",
    "issuer-key-rotated": "2026-03-01T12:00:00.000Z",
  });
  expect(keysIn("issuer-key", { "issuer-key.pem": "a", other: "x" })).toEqual({ current: "a" });
  expect(() => keyFiles("callback-key", { current: "no key" })).toThrow(
    'Cannot make secret "callback-key": its key is no PEM',
  );
});
