import { describe, expect, test } from "vitest";

import { readPlatform, checkPlatform } from "../../../../infra/manifests/read-platform.ts";
import { objectNamed, objectsOf, podsOf, variablesOf } from "../../../support/manifest-platform.ts";

const certificate = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----";
const egress = { egressProxy: "http://proxy.example.com:3128", egressNoProxy: ".corp.example.com,10.0.0.0/8" };
const processes = ["gateway", "queue-worker", "queue-doctor", "autoscaler", "operator", "history"];

describe("trusted authorities", () => {
  const objects = objectsOf(readPlatform({ trustedAuthorities: certificate }));

  test("are files of the pods of all processes, which Node.js reads beside its own", () => {
    expect(objectNamed(objects, "ConfigMap", "trusted-authorities")).toMatchObject({
      data: { "ca.crt": `${certificate}\n` },
    });
    for (const name of processes) {
      const deployment = objectNamed(objects, "Deployment", name);
      const { containers, volumes } = podsOf(deployment);
      expect(variablesOf(deployment)["NODE_EXTRA_CA_CERTS"], name).toBe("/etc/weir-authorities/ca.crt");
      expect(volumes, name).toContainEqual({ name: "authorities", configMap: { name: "trusted-authorities" } });
      expect(containers[0].volumeMounts, name).toContainEqual({
        name: "authorities",
        mountPath: "/etc/weir-authorities",
        readOnly: true,
      });
    }
  });

  test("that change start the pods anew; without any there is neither file nor volume", () => {
    const markOf = (options: object) =>
      JSON.stringify(objectNamed(objectsOf(readPlatform({ ...options })), "Deployment", "gateway")).match(
        /"weir\/authorities":"(\w+)"/,
      )?.[1];
    const other = certificate.replace("x", "y");
    expect(markOf({ trustedAuthorities: certificate })).not.toBe(markOf({ trustedAuthorities: other }));
    expect(markOf({})).toBeUndefined();
    expect(checkPlatform({ trustedAuthorities: "ca.crt" }).problems).toEqual([
      expect.stringMatching(/^trustedAuthorities: expected PEM/),
    ]);
  });
});

describe("a proxy", () => {
  const policyOf = (egressProxy: string, name: string) =>
    JSON.stringify(
      objectNamed(
        objectsOf(readPlatform({ ...egress, egressProxy, clusterRanges: "10.0.0.0/8" })),
        "NetworkPolicy",
        name,
      ),
    );

  test("is that of gateways and queue-workers, which reach names in the cluster without it", () => {
    const objects = objectsOf(readPlatform(egress));
    for (const name of ["gateway", "queue-worker"])
      expect(variablesOf(objectNamed(objects, "Deployment", name)), name).toMatchObject({
        egress_proxy: egress.egressProxy,
        egress_no_proxy: ".corp.example.com,10.0.0.0/8,.svc,.svc.cluster.local",
      });
  });

  test("may be in the cluster or at an address of its ranges: policies let connections through", () => {
    const inside = '"kubernetes.io/metadata.name":"proxies"';
    const address = '{"to":[{"ipBlock":{"cidr":"10.1.1.1/32"}}],"ports":[{"port":3128,"protocol":"TCP"}]}';
    for (const name of ["gateway", "queue-worker"]) {
      expect(policyOf("http://squid.proxies.svc.cluster.local:3128", name), name).toContain(inside);
      expect(policyOf("http://squid.proxies:3128", name), name).toContain(inside);
      expect(policyOf("http://10.1.1.1:3128", name), name).toContain(address);
      expect(policyOf("http://proxy.example.com:3128", name), name).not.toContain("proxies");
    }
  });

  test.each([
    [{ egressProxy: "http://user:word@proxy:3128" }, /^egressProxy: expected an address/],
    [{ egressProxy: "socks5://proxy:1080" }, /^egressProxy: expected an address/],
    [{ egressNoProxy: ".example.com" }, /^egressNoProxy: expected egress_?[pP]roxy with it/],
  ])("that cannot be is named: %j", (options, problem) => {
    expect(checkPlatform(options).problems).toEqual([expect.stringMatching(problem)]);
  });
});
