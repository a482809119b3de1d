import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionObject } from "../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { loadBaseImage } from "../../support/cluster-images.ts";
import { eventually } from "../../support/eventually.ts";
import { openOperatedCluster, type OperatedCluster } from "../../support/cluster-operator.ts";
import {
  condition,
  conditionsWithin,
  isReady,
  isStalled,
  operatedFunctions,
} from "../../support/operated-functions.ts";

let opened: OperatedCluster;
let image: string;

beforeAll(async () => {
  opened = await openOperatedCluster(1, ["--declared-queues=default=2m"]);
  // Where pods only pretend to run, the image is never pulled.
  image = opened.cluster.level === "node" ? await loadBaseImage(opened.cluster) : "example/hello:1";
}, 120_000);
afterAll(async () => {
  await opened?.close();
  expect(opened?.operators[0].mishaps ?? []).toEqual([]);
});

const within = conditionsWithin;
/** Each look starts a kubectl. */
const every = 250;
const { kubectl, get, apply, shows } = operatedFunctions(
  () => opened,
  () => image,
);

interface Deployment {
  readonly metadata: { readonly uid: string; readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: { readonly annotations: Record<string, string> } };
  };
}
interface SliceList {
  readonly items: readonly {
    readonly endpoints?: readonly { readonly conditions: { readonly ready?: boolean } }[] | null;
  }[];
}
const revision = ({ spec }: Deployment) => spec.template.metadata.annotations["service.com/revision"];

test("an applied Function becomes a Deployment and a Service, and reports readiness", async () => {
  await apply("hello", {});
  const object = await shows("hello", "a ready function", isReady, 20_000);
  expect(object.status).toMatchObject({ replicas: 1, availableReplicas: 1, selector: "faas_function=hello" });
  expect(await kubectl("get", "fn", "hello")).toMatch(/hello +True +ReplicasReady +1 +1 +\S+ /);
  const service = await get<{ spec: { ports: readonly object[] } }>("service", "hello");
  expect(service.spec.ports).toMatchObject([{ port: 8080, targetPort: 8080 }]);
  // Another controller writes the slice in its own time.
  const endpoints = await eventually(
    async () => {
      const slices = await get<SliceList>("endpointslices", "--selector=faas_function=hello");
      const all = slices.items.flatMap((slice) => slice.endpoints ?? []);
      return all.some(({ conditions }) => conditions.ready === true) && all;
    },
    { within, what: "an endpoint that is ready", every },
  );
  expect(endpoints).toMatchObject([{ conditions: { ready: true } }]);
});

test("a Function applied without a count gets its minimum, which autoscalers read from subresource scale", async () => {
  await apply("counted", { labels: { "com.service.scale.min": "2" } });
  const object = await shows("counted", "a count", ({ spec }) => spec.replicas !== undefined);
  expect(object.spec.replicas).toBe(2);
  await shows("counted", "a ready function", isReady, 20_000);
  const path = `/apis/service.com/v1/namespaces/${opened.namespace}/functions/counted/scale`;
  expect(JSON.parse(await kubectl("get", "--raw", path))).toMatchObject({
    spec: { replicas: 2 },
    status: { replicas: 2, selector: "faas_function=counted" },
  });
  // Applying the same object again changes nothing; the count belongs to the autoscaler.
  await kubectl("scale", "fn/counted", "--replicas=4");
  await apply("counted", { labels: { "com.service.scale.min": "2" } });
  const { spec } = await get<FunctionObject>("fn", "counted");
  expect(spec.replicas).toBe(4);
});

test("kubectl scale changes the count and rolls nothing; another environment does", async () => {
  await apply("scaled", { labels: { "com.service.scale.max": "5" } });
  await shows("scaled", "a ready function", isReady, 20_000);
  const before = await get<Deployment>("deployment", "scaled");
  await kubectl("scale", "fn/scaled", "--replicas=3");
  await shows("scaled", "three replicas", ({ status }) => status?.availableReplicas === 3, 20_000);
  const scaled = await get<Deployment>("deployment", "scaled");
  expect([scaled.spec.replicas, revision(scaled)]).toEqual([3, revision(before)]);
  await kubectl("patch", "fn", "scaled", "--type=merge", '--patch={"spec":{"environment":{"colour":"green"}}}');
  await eventually(async () => revision(await get<Deployment>("deployment", "scaled")) !== revision(before), {
    within,
    what: "another revision",
    every,
  });
  expect((await shows("scaled", "all new", isReady, 20_000)).status).toMatchObject({ availableReplicas: 3 });
});

test("a missing object is reported, and the function starts once it exists", async () => {
  await apply("needy", { annotations: { "com.service.serviceaccount": "helper" } });
  const object = await shows("needy", "a missing account", isStalled);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "ServiceAccountNotFound",
    message: expect.stringContaining('"helper"'),
  });
  expect(await kubectl("get", "fn", "needy")).toMatch(/needy +False +ServiceAccountNotFound +1 +0 +\S+ /);
  await kubectl("create", "serviceaccount", "helper");
  await shows("needy", "a ready function", isReady, 60_000);
  const events = ["get", "events", "--field-selector=involvedObject.kind=Function,involvedObject.name=needy"];
  const eventLines = async (): Promise<string[]> => {
    const { items } = JSON.parse(await kubectl(...events, "--output=json")) as {
      readonly items: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
    };
    return items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  };
  await eventually(async () => (await eventLines()).some((line) => line.startsWith("Normal ReplicasReady")), {
    within,
    what: "the event of its readiness",
    every,
  });
  expect((await eventLines()).toSorted()).toEqual([
    "Normal Recovered: Nothing is in the way any more",
    "Normal ReplicasReady: 1 of 1 replicas is ready",
    expect.stringMatching(/^Warning ServiceAccountNotFound: Cannot start function "needy\..*"helper"/),
  ]);
});

test("a misspelt key is reported with the nearest name, and the function starts once it is corrected", async () => {
  await apply("misspelt", { labels: { "com.service.scale.mim": "2" } });
  const object = await shows("misspelt", "an unknown key", isStalled);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "UnknownKey",
    message: expect.stringContaining('did you mean "com.service.scale.min"?'),
  });
  await kubectl("patch", "fn", "misspelt", "--type=merge", '--patch={"spec":{"labels":null}}');
  await shows("misspelt", "a ready function", isReady, 60_000);
});

test("a service account with rights of the platform itself is refused", async () => {
  const role = `${opened.cluster.namespace}-gateway-functions`;
  await kubectl("create", "serviceaccount", "mighty");
  await kubectl(
    "create",
    "rolebinding",
    "mighty",
    `--clusterrole=${role}`,
    `--serviceaccount=${opened.namespace}:mighty`,
  );
  await apply("usurper", { annotations: { "com.service.serviceaccount": "mighty" } });
  const object = await shows("usurper", "a refusal", isStalled);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "ServiceAccountRefused",
    message: expect.stringContaining(role),
  });
  expect(await kubectl("get", "deployment", "--selector=faas_function=usurper", "--output=name")).toBe("");
});

test("a timeout beyond timeout_max is refused; one within it is the grace of the pods", async () => {
  await apply("patient", { annotations: { "com.service.timeout": "2h" } });
  const object = await shows("patient", "a refusal", isStalled);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "Invalid",
    message:
      'Cannot deploy function "patient": com.service.timeout 2h is above timeout_max (1h), a setting of the gateway',
  });
  expect(await kubectl("get", "deployment", "--selector=faas_function=patient", "--output=name")).toBe("");
  await apply("patient", { annotations: { "com.service.timeout": "10m" } });
  await shows("patient", "a ready function", isReady, 60_000);
  const made = await get<{ spec: { template: { spec: { terminationGracePeriodSeconds: number } } } }>(
    "deployment",
    "patient",
  );
  expect(made.spec.template.spec.terminationGracePeriodSeconds).toBe(603);
});

test("an exec_timeout beyond that of all calls is refused; one that a queued call may take is accepted", async () => {
  await apply("tireless", { environment: { exec_timeout: "5m" } });
  const object = await shows("tireless", "a refusal", isStalled);
  expect(condition(object, "Stalled")).toMatchObject({
    reason: "Invalid",
    message:
      'Cannot deploy function "tireless": exec_timeout 5m is above upstream_timeout (30s) and the timeout of queue "default" (2m); set annotation com.service.timeout to 5m or more',
  });
  expect(await kubectl("get", "deployment", "--selector=faas_function=tireless", "--output=name")).toBe("");
  await apply("tireless", { environment: { exec_timeout: "2m" } });
  await shows("tireless", "a ready function", isReady, 60_000);
});

test("a missing Profile is reported, and merged once it exists", async () => {
  const profile = (spec: object) =>
    opened.cluster.apply({
      apiVersion: "service.com/v1",
      kind: "Profile",
      metadata: { name: "careful", namespace: opened.cluster.namespace },
      spec,
    });
  await apply("profiled", { annotations: { "com.service.profile": "careful" } });
  const missing = await shows("profiled", "a missing Profile", isStalled);
  expect(condition(missing, "Stalled")?.reason).toBe("ProfileNotFound");
  await profile({ tolerations: [{ key: "spot", operator: "Exists" }] });
  expect((await shows("profiled", "a ready function", isReady, 20_000)).status?.profiles).toEqual(["careful"]);
  const pods = await get<{ items: readonly object[] }>("pods", "--selector=faas_function=profiled");
  expect(pods.items).toMatchObject([
    { spec: { tolerations: expect.arrayContaining([{ key: "spot", operator: "Exists" }]) } },
  ]);
});

test("a labelled core secret that a function names gets a Secret of Weir with its keys and no values", async () => {
  await kubectl("create", "secret", "generic", "labelled", "--from-literal=one=canary", "--from-literal=two=canary");
  await kubectl("label", "secret", "labelled", "app.kubernetes.io/managed-by=weir");
  await apply("naming", { secrets: ["labelled"] });
  const named = await eventually(
    async () => {
      const object = await get<{ status?: { conditions?: readonly object[] } }>(
        "secrets.service.com",
        "labelled",
      ).catch(() => undefined);
      return object?.status === undefined ? undefined : object;
    },
    { within, what: "a Secret of the platform", every },
  );
  expect(named).toMatchObject({
    spec: { secretRef: { name: "labelled" }, keys: ["one", "two"] },
    status: { keys: ["one", "two"], conditions: [{ type: "Ready", status: "True" }] },
  });
  expect(JSON.stringify(named)).not.toContain("canary");
});

test("changes by others to its objects are reverted; objects of others are left alone", async () => {
  await apply("kept", {});
  await shows("kept", "a ready function", isReady, 20_000);
  const { uid } = (await get<Deployment>("deployment", "kept")).metadata;
  await kubectl("scale", "deployment/kept", "--replicas=7");
  await eventually(async () => (await get<Deployment>("deployment", "kept")).spec.replicas === 1, {
    within,
    what: "one replica again",
    every,
  });
  await kubectl("delete", "deployment", "kept", "--wait=false");
  await eventually(
    async () => (await get<Deployment>("deployment", "kept").catch(() => undefined))?.metadata.uid !== uid,
    {
      what: "another Deployment",
      every,
    },
  );
  await kubectl("create", "service", "clusterip", "taken", "--tcp=80");
  await apply("taken", {});
  const object = await shows("taken", "a taken name", isStalled);
  expect(condition(object, "Stalled")?.message).toContain("belongs to something else");
});

test("an unschedulable replica, and one beyond the quota, are reported", async () => {
  await apply("huge", { requests: { cpu: "900" }, limits: { cpu: "900" } });
  const huge = await shows("huge", "an unschedulable replica", isStalled);
  expect(condition(huge, "Stalled")).toMatchObject({ reason: "Unschedulable" });
  await kubectl("create", "quota", "tight", "--hard=limits.cpu=1m");
  await apply("beyond", {});
  const beyond = await shows("beyond", "a replica beyond the quota", isStalled);
  expect(condition(beyond, "Stalled")?.reason).toBe("QuotaExceeded");
  await kubectl("delete", "quota", "tight");
});

test("all objects of a function are deleted with it", async () => {
  await apply("gone", {});
  await shows("gone", "a ready function", isReady, 20_000);
  await kubectl("delete", "fn", "gone");
  await eventually(
    async () =>
      (await kubectl("get", "deployment,service,pod", "--selector=faas_function=gone", "--output=name")) === "",
    { within: 60_000, what: "nothing left", every },
  );
});

test("the namespace has its policies, quota and limits, and a deleted one is restored", async () => {
  const names = () => kubectl("get", "networkpolicy,resourcequota,limitrange", "--output=name");
  const before = await eventually(
    async () => {
      const found = await names();
      return found.includes("limitrange/weir") && found.includes("resourcequota/weir") ? found : undefined;
    },
    { within, what: "all objects of the namespace", every },
  );
  expect(before).toContain("networkpolicy.networking.k8s.io/weir-deny");
  await kubectl("delete", "networkpolicy", "weir-deny");
  await eventually(async () => (await names()) === before, { within, what: "the policy again", every });
});

test("IAM objects are accepted and say that they have no effect in this edition", async () => {
  const namespace = opened.cluster.namespace;
  await opened.cluster.apply({
    apiVersion: "iam.service.com/v1",
    kind: "JwtIssuer",
    metadata: { name: "issuer", namespace },
    spec: { iss: "https://issuer.example", aud: ["weir"] },
  });
  const conditions = await eventually(
    async () => {
      const text = await opened.cluster.kubectl(["get", "jwtissuer", "issuer", "--output=json"], { namespace });
      const { status } = JSON.parse(text) as { status?: { conditions: readonly object[] } };
      return status?.conditions;
    },
    { within, what: "conditions", every },
  );
  expect(conditions).toMatchObject([
    { type: "Accepted", status: "True" },
    { type: "Enforced", status: "False", reason: "NotEnforced" },
    { type: "Ready", status: "False", reason: "NotEnforced" },
  ]);
});
