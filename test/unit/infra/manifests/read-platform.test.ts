import { expect, test } from "vitest";

import { checkPlatform, PlatformOptionsError, readPlatform } from "../../../../infra/manifests/read-platform.ts";

test("without input every option has its default", () => {
  expect(readPlatform({})).toMatchObject({
    edition: "enterprise",
    platformNamespace: "weir",
    functionNamespace: "functions",
    createNamespaces: true,
    nats: { replicas: "1", storage: "10Gi", tls: true },
    gateway: { replicas: 1, serviceType: "ClusterIP" },
    queues: [{ name: "default", replicas: 1, maxInflight: 10 }],
    manyNamespaces: true,
  });
});

test("all problems are reported at once, each with key, value and rule", () => {
  const input = {
    edition: "gold",
    upstreamTimout: "1s",
    natsUrl: "nats://elsewhere:4222",
    nats: { replicas: 2, storage: "10GB" },
    gateway: [],
    ingress: { annotations: { a: 1.5 } },
  };
  expect(checkPlatform(input).problems).toEqual([
    "upstreamTimout: no such option; did you mean upstreamTimeout?",
    "natsUrl: the platform decides it, it cannot be set",
    'edition: expected one of community, standard, pro, enterprise, got "gold" (settings file)',
    'nats.replicas: expected one of 1, 3, got "2" (settings file)',
    'nats.storage: expected a size such as 512Mi or 10Gi, got "10GB" (settings file)',
    "gateway: expected a mapping of options",
    'ingress.annotations["a"]: expected a text',
  ]);
  expect(() => readPlatform(input)).toThrow(PlatformOptionsError);
});

test("what the API server would refuse during an installation is refused before it", () => {
  const label = 'expected a label such as "kubernetes.io/os": "linux"';
  const rule = 'expected ranges such as "10.0.0.0/8", separated by commas';
  const input = {
    clusterRanges: ["10.0.0.0/33", "0.0.0.0/0"],
    gateway: { annotations: { "a b": "x" }, loadBalancerSourceRanges: ["999.1.1.1/8", "10.0.0.0", "fd00::/129"] },
    pods: { nodeSelector: { "not a key": "x", disk: "not a value", "example.com/ssd": "" }, annotations: [] },
  };
  expect(checkPlatform(input).problems).toEqual([
    `clusterRanges: ${rule}, got "10.0.0.0/33,0.0.0.0/0" (settings file)`,
    'gateway.annotations["a b"]: expected the key of an annotation such as "example.com/team"',
    `gateway.loadBalancerSourceRanges: ${rule}, got "999.1.1.1/8,10.0.0.0,fd00::/129" (settings file)`,
    `pods.nodeSelector["not a key"]: ${label}`,
    `pods.nodeSelector["disk"]: ${label}`,
    "pods.annotations: expected a mapping of texts",
  ]);
  for (const tolerations of [
    [{}],
    [{ key: "a", operator: "Exists", value: "b" }],
    [{ key: "a", effect: "NoSchedule", tolerationSeconds: 3 }],
    [{ key: "a", color: "red" }],
    {},
  ])
    expect(checkPlatform({ pods: { tolerations } }).problems).toEqual([
      expect.stringMatching(/^pods\.tolerations: expected a list of tolerations: /),
    ]);
  const fine = [
    { operator: "Exists" },
    { key: "a", value: "b" },
    { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 3 },
  ];
  expect(checkPlatform({ pods: { tolerations: fine } }).problems).toEqual([]);
});

test("values that `pulumi config set --path` stores as true, false or a number are texts", () => {
  const annotations = { "example.com/internal": true, "example.com/weight": 10, "example.com/zone": "a" };
  const { platform } = checkPlatform({ gateway: { annotations }, pods: { nodeSelector: { gpu: false } } });
  expect(platform?.gateway.annotations).toEqual({
    "example.com/internal": "true",
    "example.com/weight": "10",
    "example.com/zone": "a",
  });
  expect(platform?.pods.nodeSelector).toEqual({ gpu: "false" });
});

test("settings of the processes are checked by the rules of the processes and of the edition", () => {
  const input = {
    edition: "community",
    maxInflight: 4,
    upstreamTimeout: "x",
    asyncMaxBody: 67_108_864,
    nats: { storage: "512Mi", monitorUrl: "http://nats:8222" },
    functionNamespace: "kube-system",
    ingress: { className: "nginx" },
    gateway: { loadBalancerClass: "service.k8s.aws/nlb", loadBalancerSourceRanges: ["10.0.0.0/8"] },
    httpRoute: { gateway: "public", sectionName: "https" },
    queues: { reports: {} },
  };
  expect(checkPlatform(input).problems).toEqual(
    [
      'upstreamTimeout: expected a duration such as 30s or 1m30s, got "x" (settings file)',
      'functionNamespace: expected another name than platform_namespace, "default" and "kube-…", got "kube-system"',
      'maxInflight: edition "community" runs 1 queued call at a time, got 4; more need edition "pro"',
      'queues.reports: edition "community" has only queue "default", others need edition "enterprise"',
      'maxInflight: edition "community" runs 1 queued call at a time, got 4; more need edition "pro"',
      'nats.storage (70 % of it, in bytes): expected at least 1684275200 with async_max_body 67108864, got "375809638"',
      'nats.monitorUrl: expected nats.url with it, got "http://nats:8222" alone',
      "gateway.loadBalancerClass: expected gateway.serviceType LoadBalancer with it, got ClusterIP",
      "gateway.loadBalancerSourceRanges: expected gateway.serviceType LoadBalancer with it, got ClusterIP",
      "httpRoute.gateway: expected httpRoute.host with it, got none",
      "httpRoute.sectionName: expected httpRoute.host with it, got none",
      "ingress.className: expected ingress.host with it, got none",
    ].filter((problem, index, all) => all.indexOf(problem) === index),
  );
});
