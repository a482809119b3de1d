import { describe, expect, test } from "vitest";

import { checkPlatform, readPlatform } from "../../../../../infra/manifests/read-platform.ts";
import { acceptIamDocuments } from "../../../../../runtime/api/iam/accept-iam-documents.ts";
import type { PolicySpec } from "../../../../../runtime/api/resources/iam-resources.ts";
import { objectNamed, objectsOf } from "../../../../support/manifest-platform.ts";
import { notEmpty } from "../../../../support/not-empty.ts";

const issuer = { iss: "https://issuer.example.com", aud: ["weir"] };
const policy = { statement: [{ sid: "a", effect: "Allow", action: ["Function:*"], resource: ["dev:*"] }] };
const role = { policy: ["deploy"], principal: { "jwt:sub": ["repo:acme/shop"] } };
const fine = { issuers: { corp: issuer }, policies: { deploy: policy }, roles: { ci: role } };
const problemsOf = (iam: unknown, more: Readonly<Record<string, unknown>> = {}) =>
  checkPlatform({ ...more, iam }).problems;

test("issuers, policies and roles of the stack become objects in the platform's namespace", () => {
  const objects = objectsOf(readPlatform({ platformNamespace: "faas", iam: fine }));
  const metadata = (name: string) => ({ name, namespace: "faas", labels: { "app.kubernetes.io/part-of": "weir" } });
  const apiVersion = "iam.service.com/v1";
  expect(objectNamed(objects, "JwtIssuer", "corp")).toEqual({
    apiVersion,
    kind: "JwtIssuer",
    metadata: metadata("corp"),
    spec: issuer,
  });
  expect(objectNamed(objects, "Policy", "deploy")).toMatchObject({
    apiVersion,
    metadata: metadata("deploy"),
    spec: policy,
  });
  expect(objectNamed(objects, "Role", "ci")).toMatchObject({ apiVersion, metadata: metadata("ci"), spec: role });
});

describe("what is wrong is refused, each with key, value and rule", () => {
  test("by the schema of its kind", () => {
    const [statement] = policy.statement;
    const found = problemsOf({
      issuers: {
        corp: { ...issuer, iss: "issuer.example.com" },
        "Not A Name": issuer,
        late: { ...issuer, audience: [] },
      },
      policies: { deploy: { statement: [{ ...statement, action: ["Function:Delet"] }] }, all: [] },
      roles: { ci: { ...role, mode: "audit" }, nobody: {} },
      clientSecrets: { "Corp SSO": "x", github: 7, gitlab: "" },
      rules: {},
    });
    expect(found).toEqual([
      "iam.rules: no such option; did you mean roles?",
      expect.stringMatching(/^iam\.issuers\.corp: field "iss" is "issuer\.example\.com": expected an address/),
      expect.stringMatching(/^iam\.issuers\.Not A Name: its name is "Not A Name": expected a to z/),
      expect.stringMatching(/^iam\.issuers\.late: field "audience" is not known/),
      expect.stringMatching(
        /^iam\.policies\.deploy: field "statement\[0\]\.action\[0\]" is "Function:Delet": .*did you mean "Function:Delete"/,
      ),
      expect.stringMatching(/^iam\.policies\.all: it is an empty list: expected a mapping/),
      expect.stringMatching(/^iam\.roles\.ci: field "mode" is "audit": expected "enforce" or "report"/),
      expect.stringMatching(/^iam\.roles\.nobody: field "policy" is required/),
      'iam.clientSecrets["Corp SSO"]: expected a name of a to z, 0 to 9, and "-" and "." inside',
      "iam.clientSecrets.github: expected a text",
      "iam.clientSecrets.gitlab: expected a text",
    ]);
  });

  test("where something else than a mapping is given", () => {
    expect(problemsOf("on")).toEqual(["iam: expected a mapping of options"]);
    expect(problemsOf({ issuers: [issuer], clientSecrets: ["x"] })).toEqual([
      "iam.issuers: expected a mapping from names to specs of a JwtIssuer",
      "iam.clientSecrets: expected a mapping of texts",
    ]);
  });

  test("as a fault of one object beside another, by the rule of a running platform", () => {
    const corp = { ...issuer, login: { clientId: "weir", clientSecretName: "crop" } };
    const wrong = {
      issuers: {
        corp,
        twin: issuer,
        github: { ...issuer, iss: "https://token.actions.githubusercontent.com" },
      },
      policies: { deploy: policy },
      roles: { ci: { ...role, policy: ["deploy", "deplay", "x"] } },
    };
    const found = problemsOf({ ...wrong, clientSecrets: { corp: "secret" } });
    expect(found).toEqual([
      'iam.issuers.corp.login.clientSecretName: expected a name of iam.clientSecrets, got "crop"; did you mean "corp"?',
      'iam.issuers.twin: it is left out: JwtIssuer "corp" has the same iss',
      'iam.roles.ci: it names Policy "deplay", which does not exist, and grants the others only',
      'iam.roles.ci: it names Policy "x", which does not exist, and grants the others only',
      "iam.roles.ci: it names no jwt:iss although there are 2 JwtIssuers: subjects of all of them match it",
    ]);
    const documents = [
      ...Object.entries(wrong.issuers).map(([name, spec]) => ({ kind: "JwtIssuer" as const, name, spec })),
      { kind: "Role" as const, name: "ci", spec: wrong.roles.ci },
      { kind: "Policy" as const, name: "deploy", spec: policy as PolicySpec },
    ];
    const { faults } = acceptIamDocuments(documents);
    expect(found.slice(1).map((problem) => problem.replace(/^[^:]+: /, ""))).toEqual(
      notEmpty(faults, "fault").map(({ sentence }) => sentence),
    );
  });

  test("with several issuers, a role says whose subjects it means, in principal or condition", () => {
    const issuers = { corp: issuer, github: { ...issuer, iss: "https://token.actions.githubusercontent.com" } };
    const roles = {
      one: { ...role, principal: { "jwt:iss": [issuer.iss] } },
      two: { ...role, condition: { StringEqual: { "jwt:iss": issuer.iss } } },
    };
    expect(problemsOf({ ...fine, issuers, roles })).toEqual([]);
  });

  test.each(["community", "standard", "pro"])("all of it in edition %s", (edition) => {
    expect(problemsOf(fine, { edition })).toEqual([
      `edition: expected enterprise with iam, got "${edition}", which has no identity and access`,
    ]);
    expect(problemsOf({}, { edition })).toEqual([]);
  });
});

describe("an issuer in the cluster", () => {
  const made = (...issuers: readonly object[]) =>
    objectsOf(readPlatform({ iam: { issuers: Object.fromEntries(issuers.map((each, at) => [`i${at}`, each])) } }));
  const bindings = (objects: ReturnType<typeof made>) =>
    objects.filter(({ metadata }) => metadata.name.endsWith("-issuer-discovery"));
  const cluster = { ...issuer, iss: "https://oidc.example.com", issInternal: "https://kubernetes.default.svc" };

  test("that is the API server lets the gateway's account, and no other, read its keys", () => {
    expect(bindings(made(issuer, cluster))).toEqual([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: "weir-gateway-issuer-discovery", labels: expect.anything() },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "system:service-account-issuer-discovery",
        },
        subjects: [{ kind: "ServiceAccount", name: "gateway", namespace: "weir" }],
      },
    ]);
    for (const issInternal of ["http://kubernetes.default.svc", "https://kubernetes.default.svc.example.com"])
      expect(bindings(made({ ...cluster, issInternal }))).toEqual([]);
    expect(bindings(made(issuer))).toEqual([]);
  });

  test("is reached by its namespace; those outside like hosts of callbacks, without metadata services", () => {
    const egress = (input: Readonly<Record<string, unknown>>) => {
      const rules = objectNamed(objectsOf(readPlatform(input)), "NetworkPolicy", "gateway");
      return (rules["spec"] as { readonly egress: readonly { readonly to?: readonly object[] }[] }).egress;
    };
    const ranges = { clusterRanges: ["10.0.0.0/8"] };
    const inside = { ...issuer, issInternal: "http://keycloak.auth.svc:8080/realms/a" };
    const worker = objectNamed(objectsOf(readPlatform(ranges)), "NetworkPolicy", "queue-worker")["spec"];
    const callbacks = (worker as { readonly egress: readonly object[] }).egress.at(-1);
    expect(JSON.stringify(callbacks)).toContain("169.254.0.0/16");
    expect(egress(ranges).at(-1)).toEqual(callbacks);
    const auth = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "auth" } } };
    const flow = egress({ ...ranges, iam: { issuers: { inside, cluster } } }).at(-1);
    expect(flow?.to).toEqual([...((callbacks as { readonly to: readonly object[] } | undefined)?.to ?? []), auth]);
    expect(egress({ ...ranges, edition: "pro" })).not.toContainEqual(callbacks);
  });
});
