import fc from "fast-check";
import { parseAllDocuments, stringify } from "yaml";
import { describe, expect, test } from "vitest";

import { customResources } from "../../../../../runtime/api/resources/custom-resources.ts";
import type { MoveRow } from "../../../../../runtime/cli/moves/report/move-report.ts";
import { importSample, importText } from "../../../../support/import-samples.ts";
import { arbitraryOf } from "../../../../support/schema-arbitrary.ts";

interface Written {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

const writtenBy = (manifests: string | undefined): readonly Written[] =>
  parseAllDocuments(manifests ?? "").map((document) => document.toJS() as Written);
const whyOf = (rows: readonly MoveRow[], field: string): MoveRow | undefined => rows.find((row) => row.field === field);

test("a Function stays one, under the names of Weir, and its texts are no references", async () => {
  const { manifests, secrets } = await importSample("function.yml");
  const [nodeinfo, env] = writtenBy(manifests);
  expect(nodeinfo).toMatchObject({
    apiVersion: "service.com/v1",
    metadata: { name: "nodeinfo", namespace: "openfaas-fn", annotations: { "argocd.argoproj.io/sync-wave": "2" } },
    spec: { handler: "node main.js", annotations: { price: "${NOT_A_REFERENCE}" }, readOnlyRootFilesystem: true },
  });
  expect(env?.spec).toEqual({ image: "ghcr.io/openfaas/alpine:latest", environment: { fprocess: "env" } });
  expect(secrets).toEqual([
    {
      name: "nodeinfo-secret1",
      namespace: "openfaas-fn",
      command: "weir secrets create nodeinfo-secret1 -n openfaas-fn --from-file FILE",
    },
  ]);
});

test("what a cluster writes is left out", async () => {
  const { manifests, rows } = await importSample("function-list.yml");
  expect(writtenBy(manifests)).toEqual([
    {
      apiVersion: "service.com/v1",
      kind: "Function",
      metadata: { name: "figlet", namespace: "openfaas-fn" },
      spec: { image: "ghcr.io/openfaas/figlet:latest", secrets: ["registry-token"] },
    },
  ]);
  expect(rows.filter(({ result }) => result === "not supported")).toEqual([]);
});

test("objects of the platform go to its namespace", async () => {
  const { manifests } = await importSample("profile.yml");
  expect(writtenBy(manifests).map(({ metadata }) => metadata.namespace)).toEqual(["weir", "weir"]);
});

describe("what may be done never becomes more", () => {
  test("an action that Weir does not know is left out of its statement", async () => {
    const { manifests, rows } = await importSample("iam.yml");
    const policy = writtenBy(manifests).find(({ kind }) => kind === "Policy");
    expect(policy?.spec["statement"]).toEqual([expect.objectContaining({ action: ["Function:*", "Secret:List"] })]);
    expect(whyOf(rows, "Policy dev-rw: spec.statement[0].action[2]")?.result).toBe("not supported");
  });

  test("a statement or role whose condition does not fit is left out as a whole", async () => {
    const { manifests, rows } = await importSample("iam.yml");
    expect(manifests).not.toContain("2-office-hours");
    expect(manifests).not.toContain("everybody-but");
    expect(whyOf(rows, "Policy dev-rw: spec.statement[1]")?.result).toBe("not supported");
    expect(whyOf(rows, "Role everybody-but")?.result).toBe("not supported");
  });

  test("a principal of another form is no role for all", async () => {
    const role = `
apiVersion: iam.openfaas.com/v1
kind: Role
metadata: {name: r}
spec:
  policy: [p]
  principal: {email: [ada@example.com]}
`;
    expect((await importText(role)).manifests).toBeUndefined();
  });
});

test("secrets and addresses are not supported, and secrets are listed", async () => {
  const { project, manifests, rows, secrets } = await importSample("other-kinds.yml");
  expect([project, manifests]).toEqual([undefined, undefined]);
  expect(rows.every(({ result }) => result === "not supported")).toBe(true);
  expect(secrets.map(({ name }) => name)).toEqual(["api-key", "smtp-password"]);
});

test.each([
  ["a name that is none", "metadata: {name: A_B}", "Function A_B: metadata.name"],
  ["no name", "metadata: {namespace: dev}", "Function "],
  ["a namespace that is none", "metadata: {name: a, namespace: A B}", "Function a: metadata.namespace"],
  ["another name in its spec", "metadata: {name: a}\nspec: {image: x, name: b}", "Function a: spec.name"],
  ["no image", "metadata: {name: a}\nspec: {}", "Function a"],
  ["no spec", "metadata: {name: a}", "Function a"],
])("%s is not supported", async (_what, text, field) => {
  const { rows } = await importText(`apiVersion: openfaas.com/v1\nkind: Function\n${text}`);
  expect(whyOf(rows, field)).toMatchObject({ result: "not supported" });
});

test.each(["service.com/v1, Kind=Profile", "iam.service.com/v1, Kind=Role"])("%s is Weir's already", async (kind) => {
  const [apiVersion, name] = kind.split(", Kind=");
  const { rows } = await importText(`apiVersion: ${apiVersion}\nkind: ${name}\nmetadata: {name: a}\nspec: {}`);
  expect(rows).toMatchObject([{ result: "not supported", why: "it is an object of Weir already" }, {}]);
});

describe.each([
  ["openfaas.com", "Profile", customResources.profile.spec],
  ["iam.openfaas.com", "JwtIssuer", customResources.jwtIssuer.spec],
  ["iam.openfaas.com", "Policy", customResources.policy.spec],
  ["iam.openfaas.com", "Role", customResources.role.spec],
] as const)("any %s %s", (group, kind, spec) => {
  test("that fits its schema is the same in Weir", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryOf(spec), async (value) => {
        const metadata = { name: "a", namespace: "platform" };
        const text = stringify(
          { apiVersion: `${group}/v1`, kind, metadata, spec: value },
          { aliasDuplicateObjects: false },
        );
        const { rows, manifests } = await importText(text);
        expect(rows.filter(({ result }) => result === "not supported")).toEqual([]);
        expect(writtenBy(manifests)).toMatchObject([{ kind, metadata }]);
        expect(writtenBy(manifests)[0]?.spec).toEqual(value);
      }),
      { numRuns: 50 },
    );
  });
});
