import { describe, expect, test } from "vitest";

import { natsConfig } from "../../../../infra/manifests/broker/nats-config.ts";
import { platformManifests } from "../../../../infra/manifests/platform-manifests.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { neededSecretNames, secretManifests } from "../../../../infra/manifests/secrets.ts";
import { queueWorkerName } from "../../../../infra/manifests/names.ts";
import { objectNamed, objectsOf, podsOf, secretValues, variablesOf } from "../../../support/manifest-platform.ts";

const made = (input: Readonly<Record<string, unknown>> = {}) => objectsOf(readPlatform(input));

test("namespaces are restricted, that of functions has the marker; both may exist already", () => {
  const objects = made({ functionNamespace: "fn" });
  const enforce = { "pod-security.kubernetes.io/enforce": "restricted" };
  expect(objectNamed(objects, "Namespace", "weir").metadata.labels).toMatchObject(enforce);
  expect(objectNamed(objects, "Namespace", "weir").metadata.labels).not.toHaveProperty("com.service.namespace");
  expect(objectNamed(objects, "Namespace", "fn").metadata.labels).toMatchObject({
    ...enforce,
    "com.service.namespace": "1",
  });
  expect(made({ createNamespaces: false }).filter(({ kind }) => kind === "Namespace")).toEqual([]);
});

test("parts come in the order in which they are to be applied", () => {
  const names = platformManifests(readPlatform({})).map(({ name }) => name);
  const before = (first: string, second: string) => expect(names.indexOf(first)).toBeLessThan(names.indexOf(second));
  before("namespaces", "access");
  before("custom-resource-definitions", "access");
  before("access", "operator");
  before("secrets", "nats");
  before("nats", "queue-doctor");
  before("operator", "gateway");
});

describe("nats", () => {
  test("one server has its own name, syncs always, and has its own disk", () => {
    const objects = made();
    const { spec } = objectNamed(objects, "StatefulSet", "nats");
    expect(spec).toMatchObject({
      serviceName: "nats-headless",
      replicas: 1,
      volumeClaimTemplates: [{ spec: { resources: { requests: { storage: "10Gi" } } } }],
    });
    const [container] = podsOf(objectNamed(objects, "StatefulSet", "nats")).containers;
    expect(container.livenessProbe.httpGet).toEqual({ path: "/healthz?js-server-only=true", port: "monitor" });
    expect(variablesOf(objectNamed(objects, "Deployment", "queue-doctor"))).toMatchObject({
      nats_monitor_url: "http://nats-0.nats-headless.weir.svc.cluster.local:8222",
      durability: "always",
      max_file_store: String(Math.floor(10 * 2 ** 30 * 0.7)),
    });
    expect(objectNamed(objects, "Service", "nats")["spec"]).toMatchObject({ ports: [{ port: 4222 }] });
  });

  test("three servers are a cluster, and calls have three copies", () => {
    const objects = made({ nats: { replicas: 3 } });
    expect(objectNamed(objects, "StatefulSet", "nats")["spec"]).toMatchObject({ replicas: 3 });
    expect(variablesOf(objectNamed(objects, "Deployment", "queue-doctor"))).toMatchObject({
      nats_replicas: "3",
      nats_monitor_url: [0, 1, 2].map((at) => `http://nats-${at}.nats-headless.weir.svc.cluster.local:8222`).join(","),
      durability: "cluster",
    });
    expect(natsConfig(readPlatform({ nats: { replicas: 3 } }))).toContain("cluster {");
  });

  test("its largest message follows from async_max_body, its store from its disk", () => {
    const config = natsConfig(readPlatform({ asyncMaxBody: 2_000_000, nats: { storage: "20Gi" } }));
    expect(config).toContain(`max_payload: ${2_000_000 + 262_144}`);
    expect(config).toContain(`"max_file_store": ${Math.floor(20 * 2 ** 30 * 0.7)}`);
  });

  test("processes know each of three servers, as none tells them of the others", () => {
    const pod = (index: number) => `tls://nats-${index}.nats-headless.weir.svc.cluster.local:4222`;
    const objects = made({ nats: { replicas: 3 } });
    for (const name of ["gateway", "queue-worker", "queue-doctor", "autoscaler", "history"])
      expect(variablesOf(objectNamed(objects, "Deployment", name)), name).toMatchObject({
        nats_url: [0, 1, 2].map(pod).join(","),
      });
    const one = variablesOf(objectNamed(made({}), "Deployment", "gateway"));
    expect(one).toMatchObject({ nats_url: "tls://nats.weir.svc.cluster.local:4222" });
    const several = made({ nats: { url: "nats://a:4333, nats://b:4444 c", tls: false } });
    expect(variablesOf(objectNamed(several, "Deployment", "gateway"))).toMatchObject({
      nats_url: "nats://a:4333,nats://b:4444,c",
    });
    expect(() => made({ nats: { url: "nats://a,http://b" } })).toThrow(/nats\.url: .*, got "http:\/\/b"/);
  });

  test("elsewhere: no object of it is created, and the processes connect there", () => {
    const monitorUrl = "http://broker:8222,http://second:8222";
    const objects = made({ nats: { url: "nats://broker:4333", tls: false, monitorUrl } });
    for (const name of ["queue-doctor", "gateway", "queue-worker"])
      expect(variablesOf(objectNamed(objects, "Deployment", name))).toMatchObject({ nats_monitor_url: monitorUrl });
    const reached = ["http://broker:8333", "https://second"].join(",");
    const policies = made({ nats: { url: "nats://broker:4333", tls: false, monitorUrl: reached } });
    expect(JSON.stringify(objectNamed(policies, "NetworkPolicy", "gateway")["spec"])).toContain(
      JSON.stringify([4333, 8333, 443].map((port) => ({ port, protocol: "TCP" }))),
    );
    expect(objects.filter(({ metadata }) => metadata.name.startsWith("nats"))).toEqual([]);
    const environment = variablesOf(objectNamed(objects, "Deployment", "gateway"));
    expect(environment).toMatchObject({ nats_url: "nats://broker:4333" });
    expect(environment).not.toHaveProperty("nats_ca_file");
  });
});

describe("the network", () => {
  const spec = (name: string, input: Readonly<Record<string, unknown>> = {}) =>
    objectNamed(made(input), "NetworkPolicy", name)["spec"];

  test("lets in and out only what is listed", () => {
    expect(spec("default-deny")).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    expect(spec("operator")).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/name": "operator" } },
      policyTypes: ["Ingress", "Egress"],
      egress: [
        {
          ports: [
            { port: 443, protocol: "TCP" },
            { port: 6443, protocol: "TCP" },
          ],
        },
      ],
    });
  });

  test("the API server is reached at known addresses: its Service on 443, its endpoints on their own ports", () => {
    const rule = (port: number, ...cidrs: readonly string[]) => ({
      ...(cidrs.length === 0 ? {} : { to: cidrs.map((cidr) => ({ ipBlock: { cidr } })) }),
      ports: [{ port, protocol: "TCP" }],
    });
    const egress = (apiServer: object, name = "operator") =>
      (spec(name, { apiServer }) as { egress?: object[] }).egress;
    const service = rule(443, "10.96.0.1/32", "fd00:96::1/128");
    const serviceAddresses = ["10.96.0.1", "fd00:96::1"];
    expect(egress({ ports: ["16443"], serviceAddresses })).toEqual([service, rule(16_443)]);
    expect(egress({ ports: "8443", ranges: ["10.0.0.0/28"] })).toEqual([rule(443), rule(8_443, "10.0.0.0/28")]);
    expect(egress({ ports: ["443"], serviceAddresses, ranges: ["10.0.0.0/28"] })).toEqual([
      service,
      rule(443, "10.0.0.0/28"),
    ]);
    // Nothing else leaves except calls, callbacks of a queue-worker, and requests of a gateway to issuers.
    const known = { ports: ["6443"], serviceAddresses, ranges: ["10.0.0.0/28"] };
    const open = (name: string) =>
      egress(known, name)?.filter((each) => !("to" in each) || JSON.stringify(each).includes("/0"));
    const processes = ["queue-doctor", "autoscaler", "operator", "history", "nats", "dns"];
    expect(processes.map(open)).toEqual(processes.map(() => []));
    expect(open("queue-worker")).toHaveLength(1);
    expect(open("gateway")).toHaveLength(1);
  });

  test.each([
    [{ ports: ["0"] }, "apiServer.ports: expected ports such as 6443"],
    [{ ports: "65536" }, "apiServer.ports: expected ports such as 6443"],
    [{ serviceAddresses: ["10.96.0.1/32"] }, "apiServer.serviceAddresses: expected addresses"],
    [{ ranges: ["10.0.0.1"] }, "apiServer.ranges: expected ranges"],
  ])("an API server at %j is refused", (apiServer, sentence) => {
    expect(() => made({ apiServer })).toThrow(sentence);
  });

  test("the broker is open to its users, its peers, and on the monitoring port to those that ask why it does not store", () => {
    const from = (process: string) => ({ podSelector: { matchLabels: { "app.kubernetes.io/name": process } } });
    expect(spec("nats")).toMatchObject({
      ingress: [
        {
          from: ["gateway", "queue-worker", "autoscaler", "queue-doctor", "history"].map(from),
          ports: [{ port: 4222, protocol: "TCP" }],
        },
        { from: [from("nats")], ports: [{ port: 6222, protocol: "TCP" }] },
        {
          from: [from("gateway"), from("queue-worker"), from("queue-doctor"), from("history")],
          ports: [{ port: 8222, protocol: "TCP" }],
        },
      ],
      egress: [{ to: [from("nats")], ports: [{ port: 6222, protocol: "TCP" }] }],
    });
  });

  test("DNS goes to the cluster's resolver and to caches on nodes, nowhere else", () => {
    expect(spec("dns")).toEqual({
      podSelector: {},
      policyTypes: ["Egress"],
      egress: [
        {
          to: [
            { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
            { ipBlock: { cidr: "169.254.20.10/32" } },
          ],
          ports: [
            { port: 53, protocol: "UDP" },
            { port: 53, protocol: "TCP" },
          ],
        },
      ],
    });
  });

  test("the gateway's port is open to all, its metrics only to those listed", () => {
    expect(spec("gateway")).toMatchObject({ ingress: [{ ports: [{ port: 8080, protocol: "TCP" }] }] });
    expect(spec("gateway", { monitoring: { namespaceLabels: { team: "ops" } } })).toMatchObject({
      ingress: [
        { ports: [{ port: 8080 }] },
        { from: [{ namespaceSelector: { matchLabels: { team: "ops" } } }], ports: [{ port: 8082 }] },
      ],
    });
  });

  test("callbacks may leave, but not to metadata services and the cluster's own ranges", () => {
    const text = JSON.stringify(spec("queue-worker", { clusterRanges: ["10.0.0.0/8"] }));
    const metadata = ["169.254.0.0/16", "168.63.129.16/32", "192.0.0.192/32", "100.100.100.200/32"];
    expect(text).toContain(JSON.stringify({ cidr: "0.0.0.0/0", except: [...metadata, "10.0.0.0/8"] }));
    expect(text).toContain(JSON.stringify({ cidr: "::/0", except: ["fd00:ec2::254/128", "fe80::/10"] }));
    expect(JSON.stringify(spec("autoscaler"))).not.toContain("ipBlock");
  });
});

describe("secrets", () => {
  test("values are in Secrets only", () => {
    const platform = readPlatform({ edition: "enterprise", nats: { replicas: 3 }, queues: { reports: {} } });
    const tls = {
      certificate: "value of the certificate",
      key: "value of the key",
      authority: "value of the authority",
    };
    const secrets = secretManifests(platform, secretValues(platform, tls));
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(neededSecretNames(platform));
    const values = secrets.flatMap((secret) => Object.values(secret["stringData"] as Readonly<Record<string, string>>));
    const others = JSON.stringify(objectsOf(platform));
    expect(values.filter((value) => value !== "admin" && others.includes(JSON.stringify(value).slice(1, -1)))).toEqual(
      [],
    );
    expect(others).not.toContain("password-of-");
  });

  test("the Secrets that pods mount are exactly the required ones", () => {
    const platform = readPlatform({ edition: "enterprise", nats: { replicas: 3 }, queues: { a_b: {} } });
    const text = JSON.stringify(objectsOf(platform));
    const mounted = [...text.matchAll(/"secret":\{"(?:name|secretName)":"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect([...new Set(mounted)].toSorted()).toEqual([...neededSecretNames(platform), "callback-secrets"].toSorted());
  });

  test("passwords that the broker could misread are refused", () => {
    const platform = readPlatform({ nats: { tls: false } });
    const values = secretValues(platform);
    expect(() => secretManifests(platform, { ...values, storeKey: 'a"\nlisten: 0' })).toThrow(
      'Cannot make secret "nats-store"',
    );
    expect(() => secretManifests(platform, { ...values, brokerPasswords: {} })).toThrow("it has none");
    expect(() => secretManifests(platform, { ...values, signingKeys: {} })).toThrow(
      'Cannot make secret "callback-key": no key was given',
    );
  });
});

test("images for one architecture keep every pod on nodes of it", () => {
  const selectors = (input: Readonly<Record<string, unknown>>) =>
    made(input)
      .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
      .map((object) => JSON.stringify((podsOf(object) as { readonly nodeSelector?: object }).nodeSelector));
  expect([...new Set(selectors({ images: { architecture: "arm64" } }))]).toEqual(['{"kubernetes.io/arch":"arm64"}']);
  expect([...new Set(selectors({}))]).toEqual([undefined]);
  expect(() => made({ images: { architecture: "x86" } })).toThrow(/images\.architecture: expected amd64 or arm64/);
});

describe("the Service of the gateway", () => {
  const balanced = {
    serviceType: "LoadBalancer",
    annotations: { "service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing" },
    loadBalancerClass: "service.k8s.aws/nlb",
    loadBalancerSourceRanges: ["203.0.113.0/24"],
  };
  const outside = { loadBalancerClass: "service.k8s.aws/nlb", loadBalancerSourceRanges: ["203.0.113.0/24"] };
  const services = (input: Readonly<Record<string, unknown>>) =>
    made(input).filter(({ kind, metadata }) => kind === "Service" && metadata.name.startsWith("gateway"));

  test("is a load balancer, with its annotations, class and ranges", () => {
    expect(services({ gateway: balanced })).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({ name: "gateway", annotations: balanced.annotations }),
        spec: expect.objectContaining({ type: "LoadBalancer", ...outside }),
      }),
    ]);
    expect(services({})[0]?.metadata).not.toHaveProperty("annotations");
  });

  test("stays internal when the load balancer ends TLS, which has its own Service with the port of publicUrl", () => {
    const port = (number: number) => [{ port: number, targetPort: "http" }];
    const [inside, balancer] = services({ gateway: balanced, publicUrl: "https://f.example.com" });
    expect(inside).toMatchObject({ metadata: { name: "gateway" }, spec: { type: "ClusterIP", ports: port(8080) } });
    expect(inside?.metadata).not.toHaveProperty("annotations");
    expect(inside?.["spec"]).not.toHaveProperty("loadBalancerClass");
    expect(balancer).toMatchObject({
      metadata: { name: "gateway-public", annotations: balanced.annotations },
      spec: { type: "LoadBalancer", ports: port(443), selector: { "app.kubernetes.io/name": "gateway" }, ...outside },
    });
    const [, other] = services({ gateway: balanced, publicUrl: "https://f.example.com:8443" });
    expect(other?.["spec"]).toMatchObject({ ports: port(8443) });
    expect(services({ gateway: { serviceType: "NodePort" }, publicUrl: "https://f.example.com" })).toHaveLength(1);
  });
});

describe("an HTTPRoute", () => {
  const routes = (httpRoute: object) => made({ httpRoute }).filter(({ kind }) => kind === "HTTPRoute");

  test("routes the requests of a Gateway's listener for the host", () => {
    const to = { gateway: "public", gatewayNamespace: "infra", sectionName: "https" };
    expect(routes({ host: "f.example.com", ...to })).toMatchObject([
      {
        metadata: { name: "gateway", namespace: "weir" },
        spec: {
          parentRefs: [{ name: "public", namespace: "infra", sectionName: "https" }],
          hostnames: ["f.example.com"],
          rules: [{ backendRefs: [{ name: "gateway", port: 8080 }] }],
        },
      },
    ]);
    const [bare] = routes({ host: "f.example.com", gateway: "public" });
    expect(bare?.["spec"]).toMatchObject({ parentRefs: [{ name: "public" }] });
    expect(routes({})).toEqual([]);
  });

  test("sets the gateway's public address, unless that is given", () => {
    const address = (input: object) =>
      variablesOf(
        objectNamed(
          made({ httpRoute: { host: "f.example.com", gateway: "public" }, ...input }),
          "Deployment",
          "gateway",
        ),
      )["public_url"];
    expect(address({})).toBe("http://f.example.com");
    expect(address({ publicUrl: "https://f.example.com" })).toBe("https://f.example.com");
  });
});

describe("ingress", () => {
  test("is created for a host only, and sets the gateway's public address", () => {
    expect(made().filter(({ kind }) => kind === "Ingress")).toEqual([]);
    const objects = made({ ingress: { host: "weir.example.com", tlsSecret: "cert" }, upstreamTimeout: "2m" });
    expect(objectNamed(objects, "Ingress", "gateway")["spec"]).toMatchObject({
      tls: [{ hosts: ["weir.example.com"], secretName: "cert" }],
    });
    expect(variablesOf(objectNamed(objects, "Deployment", "gateway"))).toMatchObject({
      public_url: "https://weir.example.com",
    });
  });

  test("a proxy waits as long as the longest call, and does not buffer", () => {
    const ingress = { host: "h.example", className: "nginx" };
    const objects = made({ ingress, timeoutMax: "20m" });
    expect(objectNamed(objects, "Ingress", "gateway").metadata.annotations).toMatchObject({
      // Any function may have a timeout of 20 min, after its wait for a replica.
      "nginx.ingress.kubernetes.io/proxy-read-timeout": "1265",
      "nginx.ingress.kubernetes.io/proxy-buffering": "off",
    });
    const short = made({ ingress, timeoutMax: "1m" });
    expect(objectNamed(short, "Ingress", "gateway").metadata.annotations).toMatchObject({
      // A WebSocket may be idle for 10 min.
      "nginx.ingress.kubernetes.io/proxy-read-timeout": "605",
    });
  });
});

test("names of queues become valid Kubernetes names, and stay different", () => {
  const names = ["default", "reports", "a_b", "a-b", "a-", "a_", "x".repeat(63), `${"x".repeat(62)}y`].map(
    queueWorkerName,
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/);
  expect(names.slice(0, 2)).toEqual(["queue-worker", "queue-worker-reports"]);
});
