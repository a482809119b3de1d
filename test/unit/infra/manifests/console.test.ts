import { expect, test } from "vitest";

import { checkPlatform, readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { objectNamed, objectsOf, podsOf, variablesOf } from "../../../support/manifest-platform.ts";
import { notEmpty } from "../../../support/not-empty.ts";

const host = "console.example.com";
const parts = (input: Readonly<Record<string, unknown>>) => {
  const objects = objectsOf(readPlatform(input));
  const gateway = objectNamed(objects, "Deployment", "gateway");
  const policy = objectNamed(objects, "NetworkPolicy", "gateway")["spec"] as { readonly ingress: readonly object[] };
  return {
    environment: variablesOf(gateway),
    containerPorts: podsOf(gateway).containers[0].ports.map(({ containerPort }) => containerPort),
    open: policy.ingress[0],
    services: objects.filter(({ kind, metadata }) => kind === "Service" && metadata.name === "gateway-console"),
    ingresses: objects.filter(({ kind, metadata }) => kind === "Ingress" && metadata.name === "gateway-console"),
  };
};
const tcp = (...ports: readonly number[]) => ({ ports: ports.map((port) => ({ port, protocol: "TCP" })) });

test("the console is off by default: no port, Service or Ingress", () => {
  const { environment, containerPorts, open, services, ingresses } = parts({});
  expect(Object.keys(environment).filter((name) => name.startsWith("console"))).toEqual([]);
  expect(containerPorts).toEqual([8080, 8082]);
  expect([open, services, ingresses]).toEqual([tcp(8080), [], []]);
});

test("it has a port, a Service for the cluster alone and an Ingress with its certificate, at a host of its own", () => {
  const found = parts({
    ingress: { host: "f.example.com", tlsSecret: "f" },
    console: { host, className: "nginx", clusterIssuer: "letsencrypt", annotations: { team: "ops" } },
  });
  expect(found.environment).toMatchObject({
    console_port: "8081",
    console_origins: `https://${host}`,
    public_url: "https://f.example.com",
  });
  expect(found.environment).not.toHaveProperty("console_host");
  expect(found.containerPorts).toEqual([8080, 8081, 8082]);
  expect(found.open).toEqual(tcp(8080, 8081));
  expect(found.services).toMatchObject([
    {
      spec: {
        type: "ClusterIP",
        selector: { "app.kubernetes.io/name": "gateway" },
        ports: [{ name: "console", port: 8081, targetPort: "console" }],
      },
    },
  ]);
  expect(found.ingresses).toMatchObject([
    {
      metadata: {
        annotations: {
          "cert-manager.io/cluster-issuer": "letsencrypt",
          "nginx.ingress.kubernetes.io/proxy-buffering": "off",
          "nginx.ingress.kubernetes.io/proxy-buffer-size": "16k",
          team: "ops",
        },
      },
      spec: {
        ingressClassName: "nginx",
        tls: [{ hosts: [host], secretName: "gateway-console-tls" }],
        rules: [
          { host, http: { paths: [{ backend: { service: { name: "gateway-console", port: { number: 8081 } } } }] } },
        ],
      },
    },
  ]);
});

test("it is in no Service that a load balancer opens", () => {
  const balanced = { gateway: { serviceType: "LoadBalancer" }, console: { host, tlsSecret: "c" } };
  const services = (input: object) =>
    objectsOf(readPlatform({ ...balanced, ...input })).filter(({ kind }) => kind === "Service");
  const withConsole = (input: object) =>
    notEmpty(services(input), "Service")
      .filter((service) => JSON.stringify(service).includes("8081"))
      .map(({ metadata, spec }) => [metadata.name, (spec as { readonly type: string }).type]);
  expect(withConsole({})).toEqual([["gateway-console", "ClusterIP"]]);
  expect(withConsole({ publicUrl: "https://f.example.com" })).toEqual([["gateway-console", "ClusterIP"]]);
});

test("it may have a port alone, for a route of its own or for kubectl port-forward", () => {
  const { environment, services, ingresses, open } = parts({ console: { port: 9000 } });
  expect(environment).toMatchObject({ console_port: "9000" });
  expect(environment).not.toHaveProperty("console_origins");
  expect(services).toMatchObject([{ spec: { ports: [{ port: 9000 }] } }]);
  expect([ingresses, open]).toEqual([[], tcp(8080, 9000)]);
  const origins = ["https://a.example.com", "http://localhost:9000"];
  expect(parts({ console: { port: 9000, origins } }).environment).toMatchObject({ console_origins: origins.join(",") });
});

test.each<readonly [object, string]>([
  [
    { console: { host } },
    `console.host: expected console.tlsSecret or console.clusterIssuer with it, or console.origins: https://… where TLS ends in front of it, as a session needs https; got "${host}" alone`,
  ],
  [{ console: { port: 8081, className: "nginx" } }, "console.className: expected console.host with it, got none"],
  [
    { console: { host, tlsSecret: "a", clusterIssuer: "b" } },
    "console.clusterIssuer: expected it or console.tlsSecret, got both",
  ],
  [
    { console: { origins: ["https://a.example.com"] } },
    'console.origins: expected console.host or console.port with it, got "https://a.example.com" alone',
  ],
  [
    { console: { host, origins: ["https://a.example.com", "http://127.0.0.1:8081"] } },
    `console.origins: expected "https://${host}" of console.host in it, got "https://a.example.com,http://127.0.0.1:8081"`,
  ],
  [
    { console: { port: 8081, origins: ["http://a.example.com"] } },
    'console.origins: Cannot serve the console on "http://a.example.com": a session needs https',
  ],
  [{ console: { port: 8082 } }, 'console.port: expected another port than admin_port, got "8082"'],
  [{ console: { port: 8080 } }, 'console.port: expected another port than port, got "8080"'],
  ...[
    { ingress: { host, tlsSecret: "f" } },
    { httpRoute: { host, gateway: "public" } },
    { publicUrl: `https://${host}:8443` },
  ].map(
    (functions) =>
      [
        { console: { host, tlsSecret: "c" }, ...functions },
        `console.host: expected another host than that of functions, whose pages it would admit, got "${host}"`,
      ] as const,
  ),
  [{ consolePort: 8081 }, "consolePort: the platform decides it, it cannot be set"],
])("%j is refused", (input, problem) => {
  expect(checkPlatform({ ...input }).problems).toEqual([problem]);
});

test("it needs no certificate where TLS ends in front of it, and may be forwarded, too", () => {
  const origins = [`https://${host}`, "http://127.0.0.1:8081"];
  const { environment, ingresses } = parts({ console: { host, origins } });
  expect(environment).toMatchObject({ console_origins: origins.join(",") });
  expect(ingresses[0]?.["spec"]).not.toHaveProperty("tls");
  expect(ingresses).toHaveLength(1);
});
