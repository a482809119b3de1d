import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { neededSecretNames, secretManifests } from "../../../infra/manifests/secrets.ts";
import { freshSecrets } from "../../../scripts/render/fresh-secrets.ts";
import { notEmpty } from "../../support/not-empty.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "reference", "kubernetes.md"), "utf8");
const rows = page
  .slice(page.indexOf("## What is in each Secret"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)))
  .map(([, names = [], keys = []]) => ({ name: names[0] ?? "", keys }));

/** The row of a Secret: users of the broker have one together. */
const keysOf = (secret: string): readonly string[] | undefined =>
  (rows.find(({ name }) => name === secret) ?? rows.find(({ name }) => name === "nats-…" && secret.startsWith("nats-")))
    ?.keys;

test("the table of Secrets has each that render names, with its keys", () => {
  const platform = readPlatform({
    edition: "enterprise",
    nats: { replicas: 3 },
    queues: { reports: {} },
    historyDatabase: "postgres://u:p@database:5432/weir",
    iam: { clientSecrets: { corp: "x" } },
  });
  const natsTls = { certificate: "a", key: "b", authority: "c" };
  const objects = secretManifests(platform, { ...freshSecrets(platform), historyDatabase: "x", natsTls });
  for (const { metadata, ...fields } of notEmpty(objects, "Secret"))
    expect(keysOf(metadata.name), metadata.name).toEqual(
      expect.arrayContaining(Object.keys((fields as { readonly stringData?: object }).stringData ?? {})),
    );
  expect(neededSecretNames(platform).filter((name) => keysOf(name) === undefined)).toEqual([]);
});
