import { describe, expect, test } from "vitest";

import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { checkImages, partsOf } from "../../../../scripts/preflight/check-images.ts";
import { checkIngress } from "../../../../scripts/preflight/check-ingress.ts";
import { checkNodes, type Node } from "../../../../scripts/preflight/check-nodes.ts";
import { checkRights, pluralOf } from "../../../../scripts/preflight/check-rights.ts";
import { checkSurroundings } from "../../../../scripts/preflight/check-surroundings.ts";
import { checkVersion } from "../../../../scripts/preflight/check-version.ts";
import type { Action } from "../../../../scripts/preflight/cluster.ts";
import { lineOf, type Finding } from "../../../../scripts/preflight/finding.ts";
import { clusterOf } from "../../../support/pretended-lists.ts";

const platform = (options: Readonly<Record<string, unknown>> = {}) =>
  readPlatform({ nats: { tls: false }, ...options });
const lines = (findings: readonly Finding[]): string[] => findings.map(lineOf);
const node = (name: string, more: Partial<Node> = {}): Node => ({
  metadata: { name },
  status: { conditions: [{ type: "Ready", status: "True" }] },
  ...more,
});

test.each([
  [{ major: "1", minor: "29+", gitVersion: "v1.29.8-gke" }, /^PROBLEM Kubernetes v1\.29\.8-gke is too old: 1\.30/],
  [{ major: "1", minor: "30", gitVersion: "v1.30.0" }, /^ok .* v1\.30\.0;/],
])("the version: $gitVersion", async (version, line) => {
  expect(lines(await checkVersion(clusterOf({ "/version": version })))[0]).toMatch(line);
});

describe("an Ingress", () => {
  const classes = { "/apis/networking.k8s.io/v1/ingressclasses": { items: [{ metadata: { name: "nginx" } }] } };
  const look = async (ingress: object, content: Readonly<Record<string, object>> = classes, more: object = {}) =>
    lines(
      await checkIngress(clusterOf(content), platform({ ingress: { host: "f.example.com", ...ingress }, ...more })),
    );

  test("needs its class, or a default one", async () => {
    expect((await look({ className: "nginx" }))[0]).toBe("ok      ingress class nginx");
    expect((await look({ className: "other" }))[0]).toMatch(/^PROBLEM .*"other".* there are nginx$/);
    expect((await look({}))[0]).toMatch(/^PROBLEM no ingress class is the default one/);
    expect((await look({}, {}))[0]).toMatch(/there is none: install an ingress controller$/);
  });

  test("needs the source of its certificate", async () => {
    const namespace = { ...classes, "/api/v1/namespaces/weir": {} };
    const cert = { className: "nginx", tlsSecret: "cert" };
    expect((await look(cert, namespace))[1]).toMatch(/^PROBLEM there is no Secret "cert" .*: kubectl -n weir create /);
    const made = { ...namespace, "/api/v1/namespaces/weir/secrets/cert": {} };
    expect((await look(cert, made))[1]).toMatch(/^ok /);
    // Before its namespace exists, which the stack creates, nobody can create it.
    expect((await look(cert))[1]).toMatch(/^note .*: after pulumi up: kubectl -n weir create secret tls cert /);
    expect((await look(cert, classes, { createNamespaces: false }))[1]).toMatch(/^PROBLEM /);
    expect((await look({ className: "nginx", clusterIssuer: "acme" }))[1]).toMatch(
      /^PROBLEM there is no ClusterIssuer/,
    );
    const there = { ...classes, "/apis/cert-manager.io/v1/clusterissuers/acme": {} };
    expect((await look({ className: "nginx", clusterIssuer: "acme" }, there))[1]).toMatch(/^ok /);
  });
});

describe("the Ingress of the console", () => {
  const names = { items: [{ metadata: { name: "nginx" } }, { metadata: { name: "internal" } }] };
  const classes = { "/apis/networking.k8s.io/v1/ingressclasses": names, "/api/v1/namespaces/weir": {} };
  const host = "console.example.com";
  const ingress = { host: "f.example.com", className: "nginx", tlsSecret: "cert" };

  test("needs its class and its certificate, beside those of the gateway", async () => {
    const secret = { "/api/v1/namespaces/weir/secrets/cert": {} };
    const look = async (own: object, content: object = secret) =>
      lines(
        await checkIngress(clusterOf({ ...classes, ...content }), platform({ ingress, console: { host, ...own } })),
      );
    expect(await look({ className: "internal", tlsSecret: "console-cert" })).toEqual([
      "ok      ingress class nginx",
      "ok      ingress class internal",
      "ok      Secret cert has the certificate of f.example.com",
      expect.stringMatching(/^PROBLEM there is no Secret "console-cert" .* create secret tls console-cert /),
    ]);
    // One class for both is one line.
    expect(await look({ className: "nginx", clusterIssuer: "acme" })).toEqual([
      "ok      ingress class nginx",
      "ok      Secret cert has the certificate of f.example.com",
      expect.stringMatching(/^PROBLEM there is no ClusterIssuer "acme": .*weir:console\.tlsSecret/),
    ]);
    expect((await look({ className: "gone", tlsSecret: "cert" }))[1]).toMatch(
      /^PROBLEM there is no ingress class "gone": set weir:console\.className/,
    );
  });

  test("is checked where the gateway has none", async () => {
    const alone = platform({ console: { host, className: "gone", tlsSecret: "cert" } });
    expect(lines(await checkIngress(clusterOf(classes), alone))).toEqual([
      expect.stringMatching(/^note .*no Ingress is wanted/),
      expect.stringMatching(/^PROBLEM there is no ingress class "gone"/),
      expect.stringMatching(/^PROBLEM there is no Secret "cert"/),
    ]);
  });
});

describe("an HTTPRoute", () => {
  const path = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways/public";
  const look = async (listeners: readonly object[] | undefined, more: object = {}) => {
    const httpRoute = { host: "f.example.com", gateway: "public", gatewayNamespace: "infra", ...more };
    const content = listeners === undefined ? {} : { [path]: { spec: { listeners } } };
    const publicUrl = "https://f.example.com";
    return lines(await checkIngress(clusterOf(content), platform({ httpRoute, publicUrl })));
  };
  const listener = { name: "https", protocol: "HTTPS", allowedRoutes: { namespaces: { from: "All" } } };

  test("needs its Gateway, and a listener that accepts it", async () => {
    expect(await look([listener])).toEqual(["ok      Gateway public in namespace infra"]);
    expect(await look(undefined)).toEqual([
      expect.stringMatching(/^PROBLEM there is no Gateway "public" in .*"infra"/),
    ]);
    expect(await look([listener], { sectionName: "web" })).toEqual([
      expect.stringMatching(/^PROBLEM .*no listener "web"/),
    ]);
    expect(await look([{ ...listener, allowedRoutes: {} }])).toEqual([
      expect.stringMatching(/^PROBLEM no listener of .* takes routes of namespace weir/),
    ]);
  });

  test("is checked beside an Ingress, too", async () => {
    const httpRoute = { host: "f.example.com", gateway: "public", gatewayNamespace: "infra" };
    const both = platform({ httpRoute, ingress: { host: "g.example.com" }, publicUrl: "https://f.example.com" });
    expect(lines(await checkIngress(clusterOf({}), both))).toEqual([
      expect.stringMatching(/^PROBLEM no ingress class/),
      expect.stringMatching(/^PROBLEM there is no Gateway "public"/),
    ]);
  });

  test("is reported where no listener has TLS", async () => {
    expect(await look([{ ...listener, protocol: "HTTP" }])).toEqual([
      expect.stringMatching(/^note .*no listener with TLS/),
    ]);
  });
});

describe("nodes", () => {
  const path = "/api/v1/nodes/a/proxy/configz";
  const saying = (clusterDomain: string) => clusterOf({ [path]: { kubeletconfig: { clusterDomain } } });

  test("one must be ready", async () => {
    expect(lines(await checkNodes(clusterOf({}), [], platform()))[0]).toMatch(/^PROBLEM no node is ready/);
    const cordoned = node("a", { spec: { unschedulable: true } });
    expect(lines(await checkNodes(clusterOf({}), [cordoned], platform()))[0]).toMatch(/^PROBLEM/);
  });

  test("report the DNS suffix", async () => {
    const of = async (domain: string) => lines(await checkNodes(saying(domain), [node("a")], platform()))[1];
    expect(await of("cluster.local")).toBe("ok      DNS suffix cluster.local");
    expect(await of("corp.test")).toMatch(/^PROBLEM .*corp\.test.*: set weir:clusterDomain to corp\.test$/);
    expect(lines(await checkNodes(clusterOf({}), [node("a")], platform()))[1]).toMatch(/^note /);
  });

  test("public pod ranges should be closed to callbacks", async () => {
    const own = node("a", { spec: { podCIDRs: ["10.1.0.0/24", "34.1.2.0/24", "2a01::/64"] } });
    const [, , line] = lines(await checkNodes(saying("cluster.local"), [own], platform()));
    expect(line).toMatch(/^note {4}34\.1\.2\.0\/24, 2a01::\/64 of the cluster is not in weir:clusterRanges/);
    const closed = platform({ clusterRanges: ["34.0.0.0/8", "2a01::/16"] });
    expect(lines(await checkNodes(saying("cluster.local"), [own], closed))[2]).toMatch(/^ok /);
  });

  test("fewer than the broker's servers are reported", async () => {
    const three = platform({ nats: { tls: false, replicas: "3" } });
    expect(lines(await checkNodes(saying("cluster.local"), [node("a")], three))[1]).toMatch(
      /^note .*3 servers share 1/,
    );
  });
});

describe("images", () => {
  const never = async (): Promise<never> => Promise.reject(new Error("nobody is asked"));
  const having = (...names: readonly string[]) =>
    node("a", {
      metadata: { name: "a", labels: { "kubernetes.io/arch": "amd64" } },
      status: { images: names.map((name) => ({ names: [name] })) },
    });
  const [weir, nats] = ["docker.io/library/weir:0.1.0", "docker.io/library/weir-nats:2.15.1"];

  test("on the nodes need no registry", async () => {
    const findings = await checkImages([having(weir, nats)], platform(), never);
    expect(findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
    expect(
      (await checkImages([having(weir, nats), having(nats)], platform(), never)).map(({ level }) => level),
    ).toEqual(["problem", "ok"]);
  });

  test("of a registry are looked up there", async () => {
    const names: string[] = [];
    const of = (there: boolean) =>
      checkImages(
        [having()],
        platform({ images: { weir: "registry.example.com/team/weir:1", nats: "registry.example.com/team/weir:1" } }),
        async (...args) => {
          names.push(args.join(" "));
          return there ? ["amd64"] : undefined;
        },
      );
    expect((await of(true))[0]?.level).toBe("ok");
    expect((await of(false))[0]?.level).toBe("problem");
    expect(names).toEqual(["registry.example.com team/weir 1", "registry.example.com team/weir 1"]);
    const away = { images: { weir: "registry.example.com/weir:1", nats: "registry.example.com/weir:1" } };
    expect(lines(await checkImages([], platform(away), never))[0]).toMatch(/^note .*: nobody is asked$/);
  });

  test("must be for the architectures of all nodes", async () => {
    const named = { images: { weir: "r.example.com/weir:1", nats: "r.example.com/weir:1" } };
    const amd64 = having();
    const arm64 = { metadata: { name: "b" }, status: { nodeInfo: { architecture: "arm64" } } };
    const of = async (architectures: readonly string[], ...nodes: readonly Node[]) =>
      lines(await checkImages(nodes, platform(named), async () => architectures))[0];
    expect(await of(["amd64", "arm64"], amd64, arm64)).toBe(
      "ok      image r.example.com/weir:1 is in its registry, for amd64 and arm64",
    );
    expect(await of(["amd64"], amd64, arm64)).toBe(
      "PROBLEM image r.example.com/weir:1 is for amd64, and 1 of 2 nodes are arm64: push one for arm64, too, or set weir:images.architecture to amd64 (docs/reference/images.md)",
    );
    expect(await of(["amd64"], arm64)).toMatch(/^PROBLEM .* is for amd64, and all nodes are arm64:/);
    expect(await of(["amd64"])).toMatch(/^ok /);
  });

  test.each([
    ["weir", "docker.io", "library/weir", "latest"],
    ["team/weir:1", "docker.io", "team/weir", "1"],
    ["localhost:5000/weir:1", "localhost:5000", "weir", "1"],
    ["r.example.com/a/b@sha256:00", "r.example.com", "a/b", "sha256:00"],
    ["r.example.com/a/b:1@sha256:00", "r.example.com", "a/b", "sha256:00"],
  ])("%s in full", (image, host, repository, reference) => {
    expect(partsOf(image)).toMatchObject({ host, repository, reference });
  });
});

describe("rights", () => {
  const objects = [
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", namespace: "weir" } },
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "b", namespace: "weir" } },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "c" } },
  ];

  test("are checked once for each kind and place", async () => {
    expect(lines(await checkRights(clusterOf({}), objects, platform().apiServer))).toEqual([
      "ok      you may do all 11 things that making the platform takes",
    ]);
  });

  test("that are missing are named", async () => {
    const may = ({ verb, resource }: Action) => verb === "get" || (resource === "clusterroles" && verb !== "escalate");
    const known = platform({ apiServer: { ports: ["6443"] } }).apiServer;
    expect(lines(await checkRights(clusterOf({}, may), objects, known))).toEqual([
      "PROBLEM you may not create, patch, delete deployments in weir: ask an administrator of the cluster, or use another context",
      "PROBLEM you may not escalate clusterroles: ask an administrator of the cluster, or use another context",
    ]);
    const blind = ({ resource }: Action) => resource !== "endpointslices";
    expect(lines(await checkRights(clusterOf({}, blind), objects, platform().apiServer))).toEqual([
      "PROBLEM you may not get endpointslices in default: ask an administrator of the cluster, or use another context",
    ]);
    expect(lines(await checkRights(clusterOf({}, blind), objects, known))).toEqual([
      "ok      you may do all 10 things that making the platform takes",
    ]);
  });

  test.each([
    ["NetworkPolicy", "networkpolicies"],
    ["Ingress", "ingresses"],
    ["StatefulSet", "statefulsets"],
  ])("%s is %s", (kind, plural) => expect(pluralOf(kind)).toBe(plural));
});

test("namespaces of a larger edition are reported", async () => {
  const path = "/api/v1/namespaces?labelSelector=service.com%2Fplatform%3Dweir";
  const cluster = clusterOf({
    [path]: { items: [{ metadata: { name: "functions" } }, { metadata: { name: "team" } }] },
  });
  const line = /^note {4}namespaces of functions that an edition with several has made: team:/;
  expect(lines(await checkSurroundings(cluster, platform({ edition: "community" }), []))).toContainEqual(
    expect.stringMatching(line),
  );
  const many = lines(await checkSurroundings(cluster, platform(), []));
  expect(many).not.toContainEqual(expect.stringMatching(line));
});

test("surroundings: namespaces, definitions, metrics", async () => {
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "x" },
  };
  const bare = lines(await checkSurroundings(clusterOf({}), platform({ createNamespaces: "false" }), [definition]));
  expect(bare[0]).toMatch(/^PROBLEM there is no namespace "weir": kubectl create namespace weir/);
  expect(bare[1]).toMatch(/^PROBLEM there is no namespace "functions"/);
  expect(bare[2]).toBe("ok      no definition of ours is there yet");
  expect(bare[3]).toMatch(/^note {4}there is no metrics API/);
  expect(bare[4]).toMatch(/^PROBLEM there is no EndpointSlice "kubernetes" .*: set weir:apiServer\.ports/);
  const given = platform({ apiServer: { ports: "6443" } });
  expect(lines(await checkSurroundings(clusterOf({}), given, [])).join()).not.toContain("EndpointSlice");

  const label = "pod-security.kubernetes.io/enforce";
  const full = clusterOf({
    "/api/v1/namespaces/weir": { metadata: { name: "weir", labels: { [label]: "baseline" } } },
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x": definition,
    "/apis/metrics.k8s.io/v1beta1": {},
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes": { ports: [{ port: 6_443 }] },
  });
  const [weir, definitions, metrics, apiServer] = lines(await checkSurroundings(full, platform(), [definition]));
  expect(weir).toMatch(/^note {4}namespace weir is there already/);
  expect(definitions).toMatch(/^note {4}definitions are there already: x/);
  expect(metrics).toBe("ok      metrics API");
  expect(apiServer).toBe("ok      the API server listens on port 6443");
});
