import { createHash } from "node:crypto";

import { describe, expect, test } from "vitest";

import { podsOf } from "../../support/manifest-platform.ts";
import type { KubernetesObject } from "../../../infra/manifests/kubernetes-object.ts";
import { notEmpty } from "../../support/not-empty.ts";
import { resourceNamed, settled, type RegisteredResource } from "../../support/pulumi-mocks.ts";
import { recordedStack } from "../../support/pulumi-stack.ts";

const bare = { installCrds: false };
const namesOf = (resources: readonly RegisteredResource[], type: string) =>
  resources.flatMap((each) => (each.type.endsWith(type) ? [each.name] : []));
const podsIn = (resources: readonly RegisteredResource[], type: string, name: string) => {
  const { inputs } = resourceNamed(resources, type, name);
  const { template } = inputs["spec"] as {
    readonly template: { readonly metadata: { readonly annotations?: object } };
  };
  return { annotations: template.metadata.annotations ?? {}, ...podsOf(inputs as unknown as KubernetesObject) };
};
const filesOf = (resources: readonly RegisteredResource[], secret: string) => {
  const data = resourceNamed(resources, ":Secret", `weir-credentials-${secret}`).inputs["data"];
  const entries = Object.entries(data as Readonly<Record<string, string>>);
  return Object.fromEntries(entries.map(([file, text]) => [file, Buffer.from(text, "base64").toString()]));
};
const pem = (what: string) => `-----BEGIN ${what}-----\nx\n-----END ${what}-----\n`;

describe("credentials", () => {
  test("are generated: long passwords, the administrator's in its Secret and in the output", async () => {
    const { resources } = await recordedStack(bare);
    const made = resources.filter(({ type }) => type.startsWith("random:index"));
    for (const { inputs } of notEmpty(made, "password that is made"))
      expect(inputs).toEqual({ length: 40, special: false });
    expect(filesOf(resources, "basic-auth")).toEqual({
      "basic-auth-user": "admin",
      "basic-auth-password": "generated-weir-credentials-basic-auth",
    });
    expect(filesOf(resources, "nats-store")["nats.conf"]).toContain('"generated-weir-credentials-nats-store"');
  });

  test("may be given for the administrator", async () => {
    const { resources, platform } = await recordedStack({
      ...bare,
      adminUser: "root",
      adminPassword: "[correct]horse",
    });
    expect(filesOf(resources, "basic-auth")).toMatchObject({
      "basic-auth-user": "root",
      "basic-auth-password": "[correct]horse",
    });
    expect(namesOf(resources, ":RandomPassword")).not.toContain("weir-credentials-basic-auth");
    expect(await settled(platform.adminPassword)).toEqual({ value: "[correct]horse", secret: true });
  });

  test("are generated again for another rotation, which restarts all readers; the store keeps its key", async () => {
    const { resources } = await recordedStack({ ...bare, rotation: "second", nats: { replicas: 3 } });
    const keepers = (name: string) =>
      resourceNamed(resources, ":RandomPassword", `weir-credentials-${name}`).inputs["keepers"];
    expect(keepers("basic-auth")).toEqual({ rotation: "second" });
    expect(keepers("nats-gateway")).toEqual({ rotation: "second" });
    expect(keepers("nats-store")).toBeUndefined();
    expect(keepers("nats-routes")).toBeUndefined();
    const mark = { "weir/rotation": "second" };
    expect(podsIn(resources, ":StatefulSet", "weir-nats-nats").annotations).toMatchObject(mark);
    expect(podsIn(resources, ":Deployment", "weir-gateway-gateway").annotations).toMatchObject(mark);
    expect(podsIn(resources, ":Deployment", "weir-operator-operator").annotations).toEqual({});
    expect(namesOf(resources, "weir:platform:SigningKey")).toEqual([
      "weir-credentials-callback-key",
      "weir-credentials-issuer-key",
    ]);
  });
});

describe("the broker's certificate", () => {
  test("is generated for every name of every server, and another one restarts its readers", async () => {
    const { resources } = await recordedStack(bare);
    const { dnsNames } = resourceNamed(resources, ":CertRequest", "weir-credentials-nats-server").inputs;
    expect(dnsNames).toEqual(
      expect.arrayContaining(["nats.weir.svc.cluster.local", "nats-2.nats-headless.weir.svc.cluster.local"]),
    );
    const server = resourceNamed(resources, ":LocallySignedCert", "weir-credentials-nats-server").inputs;
    expect(server["allowedUses"]).toEqual(expect.arrayContaining(["server_auth", "client_auth"]));
    expect(Number(server["earlyRenewalHours"])).toBeGreaterThan(365 * 24);
    expect(Number(server["validityPeriodHours"])).toBeGreaterThan(Number(server["earlyRenewalHours"]));
    expect(Object.keys(filesOf(resources, "nats-tls"))).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    expect(podsIn(resources, ":StatefulSet", "weir-nats-nats").annotations).toHaveProperty(["weir/certificate"]);
    expect(podsIn(resources, ":Deployment", "weir-gateway-gateway").annotations).toHaveProperty(["weir/authority"]);
  });

  test("may be given, or absent", async () => {
    const natsTls = { certificate: pem("CERTIFICATE"), key: pem("PRIVATE KEY"), authority: pem("CERTIFICATE") };
    const given = await recordedStack({ ...bare, natsTls });
    const made = given.resources.filter(
      ({ type, parent }) => type.startsWith("tls:") && !parent.includes(":SigningKey"),
    );
    expect(made).toEqual([]);
    expect(filesOf(given.resources, "nats-tls")["tls.key"]).toBe(natsTls.key);

    const plain = await recordedStack({ ...bare, nats: { tls: "false" } });
    expect(namesOf(plain.resources, ":Secret")).not.toContain("weir-credentials-nats-tls");
    expect(podsIn(plain.resources, ":StatefulSet", "weir-nats-nats").annotations).not.toHaveProperty([
      "weir/certificate",
    ]);
  });
});

test("an external broker: none is created, the passwords of its users and its CA are given", async () => {
  const word = "0123456789abcdef";
  const { resources } = await recordedStack({
    ...bare,
    nats: JSON.stringify({ url: "tls://broker.example.com:4222" }),
    natsPasswords: { gateway: word, "queue-worker": word, autoscaler: word, "queue-doctor": word, history: word },
    natsTls: { authority: pem("CERTIFICATE") },
  });
  expect(namesOf(resources, ":StatefulSet")).toEqual([]);
  expect(namesOf(resources, ":RandomPassword")).toEqual([
    "weir-credentials-basic-auth",
    "weir-credentials-invoke-key",
    "weir-credentials-history-key",
  ]);
  expect(filesOf(resources, "nats-gateway")["password"]).toBe(word);
  expect(Object.keys(filesOf(resources, "nats-tls"))).toEqual(["ca.crt"]);
});

test("what exists already is not created", async () => {
  const { resources } = await recordedStack({ ...bare, createNamespaces: "false" });
  expect(namesOf(resources, ":Namespace")).toEqual([]);
  expect(namesOf(resources, ":CustomResourceDefinition")).toEqual([]);
});

test("the cluster can be named, its kubeconfig is a secret", async () => {
  const { resources, platform } = await recordedStack({ ...bare, kubeconfig: "{}", context: "east" });
  const provider = resourceNamed(resources, "providers:kubernetes", "weir");
  expect(provider.inputs).toMatchObject({ kubeconfig: "{}", context: "east" });
  expect(provider.secretInputs).toEqual(["kubeconfig"]);
  expect((await settled(platform.portForward)).value).toContain("kubectl --context east -n weir ");
});

describe("access from outside", () => {
  test("is a load balancer, if HTTP without TLS is allowed", async () => {
    const { platform } = await recordedStack({
      ...bare,
      gateway: { serviceType: "LoadBalancer" },
      allowPlainHttp: "true",
    });
    expect((await settled(platform.publicUrl)).value).toBe("http://192.0.2.7:8080");
  });

  test("is an Ingress with a certificate, after the gateway", async () => {
    const { resources, platform } = await recordedStack({
      ...bare,
      ingress: { host: "f.example.com", tlsSecret: "f" },
    });
    expect((await settled(platform.publicUrl)).value).toBe("https://f.example.com");
    expect(resourceNamed(resources, ":Ingress", "weir-ingress-gateway").dependencies).toContain(
      "kubernetes:core/v1:Service::weir-gateway-gateway",
    );
  });

  test("is a load balancer that ends TLS beside the cluster's Service, and a route of the Gateway API", async () => {
    const { resources, platform } = await recordedStack({
      ...bare,
      publicUrl: "https://f.example.com",
      gateway: { serviceType: "LoadBalancer" },
      httpRoute: { host: "f.example.com", gateway: "public" },
    });
    expect((await settled(platform.publicUrl)).value).toBe("https://f.example.com");
    expect(resourceNamed(resources, ":Service", "weir-gateway-gateway").inputs).toMatchObject({
      spec: { type: "ClusterIP", ports: [{ port: 8080 }] },
    });
    expect(resourceNamed(resources, ":Service", "weir-gateway-gateway-public").inputs).toMatchObject({
      spec: { type: "LoadBalancer", ports: [{ port: 443 }] },
    });
    const route = resourceNamed(resources, ":HTTPRoute", "weir-ingress-gateway");
    expect(route.inputs).toMatchObject({ spec: { parentRefs: [{ name: "public" }] } });
    expect(route.dependencies).toContain("kubernetes:core/v1:Service::weir-gateway-gateway");
  });
});

test("times that must agree follow from one setting; probes use the admin port", async () => {
  const { resources } = await recordedStack({ ...bare, upstreamTimeout: "90" });
  const { terminationGracePeriodSeconds, containers } = podsIn(resources, ":Deployment", "weir-gateway-gateway");
  expect(terminationGracePeriodSeconds).toBe(5 + 90 + 5 + 5);
  expect(containers[0].env).toContainEqual({ name: "upstream_timeout", value: "90" });
  expect(containers[0].readinessProbe.httpGet.port).toBe("admin");
  expect(podsIn(resources, ":Deployment", "weir-queue-workers-queue-worker").terminationGracePeriodSeconds).toBe(105);
});

test("a wait fails after some minutes, which a stack may set", async () => {
  const timeouts = async (values: Readonly<Record<string, unknown>>) => {
    const { resources } = await recordedStack({ ...bare, ...values });
    const of = (type: string, name: string) => resourceNamed(resources, type, name).createTimeout;
    return {
      operator: of(":Deployment", "weir-operator-operator"),
      broker: of(":StatefulSet", "weir-nats-nats"),
      gateway: of(":Service", "weir-gateway-gateway"),
      config: of(":ConfigMap", "weir-nats-nats-config"),
    };
  };
  expect(await timeouts({})).toEqual({ operator: "180s", broker: "600s", gateway: "180s", config: "" });
  const balanced = { gateway: { serviceType: "LoadBalancer" }, allowPlainHttp: "true" };
  expect(await timeouts({ ...balanced, timeouts: { deployments: "5m", broker: "90s", loadBalancer: "20m" } })).toEqual({
    operator: "300s",
    broker: "90s",
    gateway: "1200s",
    config: "",
  });
  await expect(recordedStack({ timeouts: { deployment: "5m", broker: "1d" } })).rejects.toThrow(
    /timeouts\.deployment: no such option; did you mean deployments\?\n *timeouts\.broker: expected a duration/,
  );
});

test("a preview does not know the outputs of providers, and lists the same resources", async () => {
  const { resources, platform } = await recordedStack(
    { edition: "enterprise", queues: { reports: {} } },
    { preview: true },
  );
  expect(namesOf(resources, ":Deployment")).toContain("weir-queue-workers-queue-worker-reports");
  expect(namesOf(resources, ":Secret")).toContain("weir-credentials-nats-queue-worker-reports");
  expect(namesOf(resources, ":CustomResourceDefinition")).toHaveLength(6);
  expect((await settled(platform.edition)).value).toBe("enterprise");
});

describe("the history", () => {
  const historyDatabase = "postgres://weir:s3cret-w0rd@db.example.com:6543/calls";
  const historyPods = (resources: readonly RegisteredResource[]) =>
    podsIn(resources, ":Deployment", "weir-history-history");

  test("has a disk that no other class of disks replaces, and comes after the queue-doctor", async () => {
    const { resources } = await recordedStack(bare);
    const claim = resourceNamed(resources, ":PersistentVolumeClaim", "weir-history-history");
    expect(claim.ignoreChanges).toEqual(["spec.storageClassName"]);
    const { dependencies } = resourceNamed(resources, ":Deployment", "weir-history-history");
    expect(dependencies).toEqual(
      expect.arrayContaining([
        "kubernetes:core/v1:PersistentVolumeClaim::weir-history-history",
        "kubernetes:apps/v1:Deployment::weir-queue-doctor-queue-doctor",
        "kubernetes:core/v1:Secret::weir-credentials-history-key",
      ]),
    );
    expect(historyPods(resources).annotations).not.toHaveProperty(["weir/database"]);
  });

  test("has the address of its database in a Secret, and another one restarts its pods alone", async () => {
    const marks: unknown[] = [];
    for (const address of [historyDatabase, historyDatabase, historyDatabase.replace("w0rd", "other")]) {
      const { resources } = await recordedStack({ ...bare, historyDatabase: address });
      expect(filesOf(resources, "history-database")).toEqual({ "history-database": address });
      const secret = resourceNamed(resources, ":Secret", "weir-credentials-history-database");
      expect(secret.secretInputs).toContain("data");
      const others = resources.filter((each) => each !== secret);
      expect(JSON.stringify(others.map(({ inputs }) => inputs))).not.toMatch(/s3cret|db\.example/);
      expect(namesOf(resources, ":RandomPassword")).not.toContain("weir-credentials-history-database");
      expect(podsIn(resources, ":Deployment", "weir-gateway-gateway").annotations).not.toHaveProperty([
        "weir/database",
      ]);
      marks.push(new Map(Object.entries(historyPods(resources).annotations)).get("weir/database"));
    }
    expect(marks[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(marks[1]).toBe(marks[0]);
    expect(marks[2]).not.toBe(marks[0]);
    // Whoever sees pods cannot try passwords by it.
    expect(marks[0]).not.toBe(createHash("sha256").update(historyDatabase).digest("hex").slice(0, 16));
  });

  test("has the authority of its database beside its address, which names it", async () => {
    const historyDatabaseAuthority = pem("CERTIFICATE");
    const { resources } = await recordedStack({ ...bare, historyDatabase, historyDatabaseAuthority });
    expect(filesOf(resources, "history-database")).toEqual({
      "history-database": `${historyDatabase}?sslrootcert=/var/secrets/history-database-ca.crt`,
      "history-database-ca.crt": historyDatabaseAuthority,
    });
  });

  test("can be off", async () => {
    const { resources } = await recordedStack({ ...bare, history: "false" });
    expect(resources.filter(({ name }) => name.includes("history"))).toEqual([]);
  });
});

describe("the API server", () => {
  const egressOf = (resources: readonly RegisteredResource[], name = "operator") =>
    (resourceNamed(resources, ":NetworkPolicy", `weir-network-policies-${name}`).inputs["spec"] as { egress: object[] })
      .egress;
  const to = (...cidrs: readonly string[]) => ({ to: cidrs.map((cidr) => ({ ipBlock: { cidr } })) });
  const ports = (port: number) => ({ ports: [{ port, protocol: "TCP" }] });
  const service = { ...to("10.96.0.1/32", "fd00:96::1/128"), ...ports(443) };

  test.each([true, false])("is at the addresses that the cluster gives, also in a preview (%j)", async (preview) => {
    const { resources, looks } = await recordedStack(bare, { preview });
    expect(looks).toEqual([
      { id: "default/kubernetes", provider: "weir" },
      { id: "default/kubernetes", provider: "weir" },
    ]);
    expect(egressOf(resources)).toEqual([service, ports(16_443)]);
    expect(egressOf(resources, "gateway")).toEqual(expect.arrayContaining([service, ports(16_443)]));
  });

  test("is at the addresses that the stack gives, and then nothing is read", async () => {
    const apiServer = { ports: ["8443"], serviceAddresses: ["10.0.0.1"], ranges: ["192.0.2.0/28"] };
    const { resources, looks } = await recordedStack({ ...bare, apiServer });
    expect(looks).toEqual([]);
    expect(egressOf(resources)).toEqual([
      { ...to("10.0.0.1/32"), ...ports(443) },
      { ...to("192.0.2.0/28"), ...ports(8_443) },
    ]);
  });
});
