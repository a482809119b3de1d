import { Provider } from "@pulumi/kubernetes/provider.js";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";

import type { WeirPlatformArgs } from "../../../infra/weir-platform-args.ts";
import { notEmpty } from "../../support/not-empty.ts";
import { recordResources, resourceNamed, settled, type RegisteredResource } from "../../support/pulumi-mocks.ts";

const plain = { installCrds: false, awaitRollouts: false } as const;

async function recorder() {
  const { resources } = await recordResources();
  return { resources, weir: await import("../../../infra/exports.ts") };
}

const podsImage = (resources: readonly RegisteredResource[], name: string): unknown => {
  const { spec } = resourceNamed(resources, ":Deployment", name).inputs as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { image: unknown }[] } } };
  };
  return spec.template.spec.containers[0]?.image;
};

describe("a platform as part of other programs", () => {
  test("follows its options: provider, parent, dependencies, protection of what its volumes depend on", async () => {
    const { resources, weir } = await recorder();
    const cluster = new pulumi.ComponentResource("test:index:Cluster", "cluster");
    const node = new Provider("node");
    const kubernetes = new Provider("east", { kubeconfig: pulumi.secret('{"east": {}}'), context: "east" });
    void new weir.WeirPlatform(
      "functions",
      { ...plain, installCrds: true },
      { parent: cluster, provider: kubernetes, dependsOn: [node], protect: true },
    );
    const made = await resources();
    expect(resourceNamed(made, "weir:platform:Weir", "functions").parent).toBe("test:index:Cluster::cluster");
    const objects = notEmpty(
      made.filter(({ type }) => type.startsWith("kubernetes:")),
      "object",
    );
    for (const { type, name, provider } of objects)
      expect(provider, name).toBe(type.endsWith(":CustomResourceDefinition") ? "functions-definitions" : "east");
    // The definitions go to the same cluster.
    expect(resourceNamed(made, "providers:kubernetes", "functions-definitions")).toMatchObject({
      inputs: { kubeconfig: '{"east": {}}', context: "east", upsertExistingObjects: "true" },
      secretInputs: ["kubeconfig"],
    });
    expect(resourceNamed(made, ":Namespace", "functions-namespaces-weir").dependencies).toContain(
      "pulumi:providers:kubernetes::node",
    );
    const kept = made.filter(({ isProtected }) => isProtected).map(({ type }) => type.split(":").at(-1));
    expect(new Set(kept)).toEqual(new Set(["Namespace", "StatefulSet", "PersistentVolumeClaim"]));
  });

  test("passes transformations to all its resources, and its alias to its children", async () => {
    const { resources, weir } = await recorder();
    const seen: string[] = [];
    const transformations: pulumi.ResourceTransformation[] = [
      ({ type, name, props, opts }) => {
        // A resource that is only read is passed, too, and is not created.
        if ((opts as pulumi.CustomResourceOptions).id === undefined) seen.push(`${type} ${name}`);
        return { props, opts: { ...opts, ignoreChanges: ["metadata.annotations"] } };
      },
    ];
    void new weir.WeirPlatform("weir", plain, { aliases: [{ name: "before" }], transformations });
    const made = await resources();
    const inside = notEmpty(
      made.filter(({ type }) => !type.startsWith("pulumi:")),
      "resource",
    );
    expect(seen.toSorted()).toEqual(inside.map(({ type, name }) => `${type} ${name}`).toSorted());
    for (const { name, ignoreChanges } of inside.filter(({ custom }) => custom))
      expect(ignoreChanges, name).toEqual(["metadata.annotations"]);
    expect(resourceNamed(made, "weir:platform:Weir", "weir").aliases.join(" ")).toContain("before");
  });

  test("has one cluster: with a provider, its arguments must not name one", async () => {
    const { resources, weir } = await recorder();
    const parent = new pulumi.ComponentResource(
      "test:index:Cluster",
      "cluster",
      {},
      { provider: new Provider("west") },
    );
    for (const options of [{ provider: new Provider("east") }, { parent }]) {
      const make = () => new weir.WeirPlatform("mine", { ...plain, context: "north" }, options);
      expect(make).toThrow(
        'Cannot make platform "mine":\n  context: expected none with a provider for Kubernetes, which says which cluster is meant',
      );
    }
    expect(() => new weir.WeirPlatform("mine", { ...plain, kubeconfig: "/k" }, { parent })).toThrow(/ {2}kubeconfig: /);
    const made = await resources();
    expect(made.filter(({ type }) => type.startsWith("weir:"))).toEqual([]);
  });

  test("names its cluster in the command that reaches the gateway", async () => {
    const { resources, weir } = await recorder();
    const commandOf = async (name: string, args: WeirPlatformArgs, options: pulumi.ComponentResourceOptions = {}) => {
      const spaces = { platformNamespace: name, functionNamespace: `${name}-fn` };
      const { portForward } = new weir.WeirPlatform(name, { ...plain, ...spaces, ...args }, options);
      return settled(portForward);
    };
    const rest = (name: string) => ` -n ${name} port-forward service/gateway 8080:8080`;
    expect(await commandOf("a", { kubeconfig: "/home/me/my cluster", context: "east" })).toEqual({
      value: `kubectl --kubeconfig '/home/me/my cluster' --context east${rest("a")}`,
      secret: false,
    });
    // The content is a secret, and in no place where kubectl would find it.
    expect(await commandOf("b", { kubeconfig: pulumi.secret("{}"), context: "east" })).toEqual({
      value: `kubectl --context east${rest("b")}`,
      secret: false,
    });
    const provider = new Provider("elsewhere", { kubeconfig: pulumi.secret("{}"), context: "far" });
    expect((await commandOf("c", {}, { provider })).value).toBe(`kubectl --context far${rest("c")}`);
    expect((await commandOf("d", {}, { provider: new Provider("here") })).value).toBe(`kubectl${rest("d")}`);
    notEmpty(await resources(), "resource");
  });

  test("can stand beside others in one program", async () => {
    const { resources, weir } = await recorder();
    for (const name of ["one", "two"])
      void new weir.WeirPlatform(name, { ...plain, platformNamespace: name, functionNamespace: `${name}-fn` });
    const made = await resources();
    const keys = made.map(({ type, name }) => `${type} ${name}`);
    expect(keys.length).toBe(new Set(keys).size);
    const places = made
      .filter(({ type }) => type.startsWith("kubernetes:"))
      .map(({ inputs }) => {
        const { name, namespace = "" } = inputs["metadata"] as { readonly name: string; readonly namespace?: string };
        return `${String(inputs["kind"])} ${namespace}/${name}`;
      });
    expect(places.length).toBe(new Set(places).size);
  });

  test("accepts outputs of other resources: images, public names, passwords", async () => {
    const { resources, weir } = await recorder();
    const later = <T>(value: T) => pulumi.output(Promise.resolve(value));
    const platform = new weir.WeirPlatform("weir", {
      ...plain,
      edition: "standard",
      adminPassword: later("correct-horse"),
      images: { weir: later("registry.example.com/weir:1") },
      ingress: { host: later("f.example.com"), clusterIssuer: later("letsencrypt") },
      console: { host: later("c.example.com"), tlsSecret: later("c-tls") },
    });
    const made = await resources();
    expect(podsImage(made, "weir-gateway-gateway")).toBe("registry.example.com/weir:1");
    const ingress = resourceNamed(made, ":Ingress", "weir-ingress-gateway").inputs;
    expect(ingress).toMatchObject({
      metadata: { annotations: { "cert-manager.io/cluster-issuer": "letsencrypt" } },
      spec: { rules: [{ host: "f.example.com" }], tls: [{ hosts: ["f.example.com"] }] },
    });
    expect(resourceNamed(made, ":Ingress", "weir-ingress-gateway-console").inputs).toMatchObject({
      spec: { rules: [{ host: "c.example.com" }], tls: [{ hosts: ["c.example.com"], secretName: "c-tls" }] },
    });
    expect(JSON.stringify(resourceNamed(made, ":Deployment", "weir-gateway-gateway").inputs)).toContain(
      JSON.stringify({ name: "console_origins", value: "https://c.example.com" }),
    );
    expect(JSON.stringify(made.map(({ inputs }) => inputs))).not.toContain(".invalid");
    expect((await settled(platform.publicUrl)).value).toBe("https://f.example.com");
    expect((await settled(platform.consoleUrl)).value).toBe("https://c.example.com/ui/");
    expect(await settled(platform.adminPassword)).toEqual({ value: "correct-horse", secret: true });
  });

  test("accepts the address of a database from another resource, and opens its port", async () => {
    const { resources, weir } = await recorder();
    const historyDatabase = pulumi.secret(Promise.resolve("postgres://weir:s3cret@db.example.com:6543/calls"));
    void new weir.WeirPlatform("weir", { ...plain, historyDatabase });
    const made = await resources();
    expect(resourceNamed(made, ":Deployment", "weir-history-history").inputs).toMatchObject({ spec: { replicas: 2 } });
    expect(made.filter(({ type }) => type.endsWith(":PersistentVolumeClaim"))).toEqual([]);
    const { inputs, secretInputs } = resourceNamed(made, ":NetworkPolicy", "weir-network-policies-history");
    expect((inputs["spec"] as { readonly egress: readonly object[] }).egress).toContainEqual({
      ports: [{ port: 6543, protocol: "TCP" }],
    });
    expect(secretInputs).toEqual([]);
  });

  test("reports all errors of its arguments at once, before anything is created", async () => {
    const { resources, weir } = await recorder();
    const wrong = { ...plain, gateway: { replicas: 0 }, nats: { storage: "much" } };
    expect(() => new weir.WeirPlatform("mine", wrong)).toThrow(
      /Cannot make platform "mine":\n {2}nats\.storage: .*\n {2}gateway\.replicas: /,
    );
    expect(await resources()).toEqual([]);
  });
});
