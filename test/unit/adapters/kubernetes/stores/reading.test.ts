import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";

import {
  serviceNameLabel,
  sliceAddresses,
} from "../../../../../runtime/adapters/kubernetes/stores/endpoint-addresses.ts";
import {
  namespaceEntry,
  namespaceObject,
} from "../../../../../runtime/adapters/kubernetes/manifests/namespace-entry.ts";
import { podLogChunks } from "../../../../../runtime/adapters/kubernetes/stores/pod-log-chunks.ts";
import { secretReference } from "../../../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import { logLines, type LogLine } from "../../../../../runtime/adapters/replica-logs/log-lines.ts";
import { functionLabel, managedByWeir, objectLabel } from "../../../../../runtime/api/names.ts";

describe("addresses of a slice", () => {
  const slice = (labels: Readonly<Record<string, string>>, rest: object = {}) => ({
    metadata: { name: "f-1", labels },
    endpoints: [{ addresses: ["192.0.2.1"] }],
    ports: [{ port: 8080 }],
    ...rest,
  });
  const own = { [functionLabel]: "f", [serviceNameLabel]: "f" };

  test("are those of its ready endpoints, with the names of their pods", () => {
    const endpoints = [
      { addresses: ["192.0.2.1"], conditions: { ready: null }, targetRef: { kind: "Pod", name: "f-a" } },
      { addresses: ["192.0.2.2"], conditions: { ready: true, terminating: true } },
      { addresses: ["192.0.2.3"], conditions: { ready: false } },
      { addresses: ["2001:db8::1"], conditions: { ready: true }, targetRef: { kind: "Node", name: "n" } },
      { addresses: [] },
    ];
    expect(sliceAddresses(slice(own, { endpoints }))).toEqual({
      function: "f",
      pods: new Map([
        ["192.0.2.1:8080", "f-a"],
        ["[2001:db8::1]:8080", undefined],
      ]),
      others: ["192.0.2.2:8080", "192.0.2.3:8080"],
    });
  });

  test.each([
    ["it belongs to another Service", slice({ ...own, [serviceNameLabel]: "theirs" }), undefined],
    ["it has no Service", slice({ [functionLabel]: "f" }), undefined],
    ["it belongs to no function", slice({ [serviceNameLabel]: "f" }), undefined],
    ["there are no pods", slice(own, { endpoints: null, ports: null }), "f"],
    ["there is no port", slice(own, { ports: [{ port: null }] }), "f"],
  ])("are none when %s", (_, given, of) => {
    expect(sliceAddresses(given)).toEqual({ function: of, pods: new Map(), others: [] });
  });

  test("belong to the Service of the function's object name", () => {
    const labels = { [functionLabel]: "1st", [serviceNameLabel]: "fn-1st" };
    expect(sliceAddresses(slice(labels)).function).toBe("1st");
  });
});

describe("the log of a pod", () => {
  const text = [
    "2026-01-31T12:00:00.000000001Z one",
    "2026-01-31T14:00:00.5+02:00 two  ünicode",
    "2026-01-31T12:00:01.123456789Z ",
    "no time at all, and longer than any time would be",
    "2026-01-31T12:00:02Z three",
    "2026-01-31T12:00:03.000000000Z unfinished",
  ].join("\n");

  test.each([1, 3, 7, 40, 64, 10_000])("is read from chunks of %i bytes", async (size) => {
    const bytes = Buffer.from(text);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    const lines: LogLine[] = [];
    for await (const line of logLines(podLogChunks(Readable.from(chunks)))) lines.push(line);
    expect(lines).toEqual([
      { timestamp: "2026-01-31T12:00:00.000000001Z", text: "one" },
      { timestamp: "2026-01-31T12:00:00.500000000Z", text: "two  ünicode" },
      { timestamp: "2026-01-31T12:00:01.123456789Z", text: "" },
      { timestamp: "2026-01-31T12:00:02.000000000Z", text: "three" },
      { timestamp: "2026-01-31T12:00:03.000000000Z", text: "unfinished", isUnfinished: true },
    ]);
  });
});

describe("the reference of a core Secret", () => {
  const labels = { [objectLabel.managedBy]: managedByWeir };
  const core = {
    metadata: { namespace: "dev", name: "key", uid: "u", labels },
    type: "Opaque",
    data: { b: "", a: "" },
  };
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "y" };

  test("names its keys and its uid, and is removed with it", () => {
    const made = secretReference(core);
    expect(made?.spec).toEqual({ secretRef: { name: "key", uid: "u" }, keys: ["a", "b"] });
    expect(made?.metadata.ownerReferences).toEqual([{ apiVersion: "v1", kind: "Secret", name: "key", uid: "u" }]);
  });

  test("has no uid when the secret has another type or an owner", () => {
    for (const over of [{ type: "kubernetes.io/tls" }, { metadata: { ...core.metadata, ownerReferences: [owner] } }])
      expect(secretReference({ ...core, ...over })?.spec.secretRef).toEqual({ name: "key" });
  });

  test("is undefined for a secret of others", () => {
    expect(secretReference({ ...core, metadata: { ...core.metadata, labels: {} } })).toBeUndefined();
  });
});

describe("a namespace", () => {
  const metadata = {
    name: "dev",
    labels: { openfaas: "", "pod-security.kubernetes.io/enforce": "privileged", team: "blue", old: "1" },
    annotations: { "service.com/x": "1", note: "2" },
    creationTimestamp: "2026-01-01T00:00:00Z",
  };

  test("is shown without the keys of Kubernetes and the platform, which are kept", () => {
    const seen = namespaceEntry({ metadata });
    expect(seen).toEqual({
      name: "dev",
      labels: { openfaas: "", team: "blue", old: "1" },
      annotations: { note: "2" },
      createdAt: "2026-01-01T00:00:00Z",
      deleting: false,
    });
    const written = namespaceObject({ ...(seen ?? never()), labels: { team: "red" }, annotations: {} }, { metadata });
    expect(written.metadata).toMatchObject({
      labels: { "pod-security.kubernetes.io/enforce": "privileged", team: "red" },
      annotations: { "service.com/x": "1" },
    });
    expect(Object.keys(written.metadata.labels ?? {})).toHaveLength(2);
  });

  test("without the marker is no namespace of functions, unless it is the default one", () => {
    const bare = { metadata: { name: "dev" } };
    expect(namespaceEntry(bare)).toBeUndefined();
    expect(namespaceEntry(bare, { defaultNamespace: "dev" })).toMatchObject({ name: "dev" });
  });

  test("of another platform is not used; one that names no platform is used by all", () => {
    const entry = { name: "dev", labels: { openfaas: "1" }, annotations: {}, createdAt: "", deleting: false };
    const made = namespaceObject(entry, undefined, "weir");
    expect(made.metadata.labels).toMatchObject({ "service.com/platform": "weir" });
    expect(namespaceEntry(made, { platformNamespace: "weir" })).toMatchObject({ labels: { openfaas: "1" } });
    expect(namespaceEntry(made, { platformNamespace: "other" })).toBeUndefined();
    expect(namespaceEntry(namespaceObject(entry, undefined), { platformNamespace: "other" })).toBeDefined();
  });
});

function never(): never {
  throw new Error("It is not there");
}
