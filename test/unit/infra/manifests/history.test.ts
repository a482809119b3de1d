import { describe, expect, test } from "vitest";

import { withAuthority } from "../../../../infra/manifests/history/database-address.ts";
import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { neededSecretNames, secretManifests } from "../../../../infra/manifests/secrets.ts";
import { parsePostgresAddress } from "../../../../runtime/api/database/postgres-address.ts";
import { editionNames } from "../../../../runtime/api/editions.ts";
import { historySettings } from "../../../../runtime/history/settings.ts";
import { readSettings } from "../../../../runtime/settings/read-settings.ts";
import { freshSecrets } from "../../../../scripts/render/fresh-secrets.ts";
import { objectNamed, objectsOf, podsOf, variablesOf } from "../../../support/manifest-platform.ts";

type Input = Readonly<Record<string, unknown>>;
const made = (input: Input = {}) => objectsOf(readPlatform(input));
const deploymentOf = (input: Input = {}, name = "history") => objectNamed(made(input), "Deployment", name);
const historyDatabase = "postgres://weir:s3cret-w0rd@db.example.com:6543/calls";
const named = { historyDatabase };
const off = { history: false };

describe.each(editionNames)("edition %s", (edition) => {
  const objects = made({ edition });

  test("has a history, which gateways ask and processes report to", () => {
    const deployment = objectNamed(objects, "Deployment", "history");
    expect(variablesOf(deployment)).toMatchObject({
      nats_user: "history",
      nats_password_file: "/var/run/weir/broker/password",
      history_dir: "/data/history",
      history_host: "0.0.0.0",
      history_port: "8083",
      log_provider: "kubernetes",
    });
    const gateway = variablesOf(objectNamed(objects, "Deployment", "gateway"));
    expect(gateway).toMatchObject({ history_url: "http://history.weir.svc.cluster.local.:8083" });
    // On is what both read when nothing is said.
    for (const name of ["gateway", "queue-worker"])
      expect(variablesOf(objectNamed(objects, "Deployment", name))).not.toHaveProperty("history");
  });

  test("without one, nothing of it is there, and its users know", () => {
    const without = made({ edition, ...off });
    expect(without.filter(({ metadata }) => /history/.test(metadata.name))).toEqual([]);
    for (const name of ["gateway", "queue-worker"])
      expect(variablesOf(objectNamed(without, "Deployment", name))).toMatchObject({ history: "false" });
    expect(variablesOf(objectNamed(without, "Deployment", "gateway"))).not.toHaveProperty("history_url");
    expect(neededSecretNames(readPlatform({ edition, ...off })).filter((name) => name.includes("history"))).toEqual([]);
    expect(JSON.stringify(without)).not.toMatch(/"nats-history|history-key/);
  });
});

describe("without a database", () => {
  test("one pod has a disk, and ends before the next one begins", () => {
    const objects = made({ nats: { storageClass: "fast" } });
    expect(objectNamed(objects, "PersistentVolumeClaim", "history")["spec"]).toEqual({
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "5Gi" } },
    });
    const deployment = objectNamed(objects, "Deployment", "history");
    expect(deployment["spec"]).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    const { volumes, containers } = podsOf(deployment);
    expect(volumes).toContainEqual({ name: "disk", persistentVolumeClaim: { claimName: "history" } });
    const writable = containers[0].volumeMounts.filter(({ readOnly }) => readOnly !== true);
    expect(writable.map(({ mountPath }) => mountPath)).toEqual(["/tmp", "/data"]);
    const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget").map(({ metadata }) => metadata.name);
    expect(budgets).toEqual(["nats"]);
  });

  test("the disk has room for what is kept", () => {
    expect(() => made({ historyStorage: "3Gi" })).toThrow(
      'historyStorage: expected at least 3840Mi for historyBytes and keptLogBytes, or less of them; got "3Gi"',
    );
    expect(() => made({ historyStorage: "3Gi", keptLogs: false })).not.toThrow();
    expect(() => made({ historyStorage: "3Gi", historyBytes: 1_073_741_824 })).not.toThrow();
    expect(() => made({ historyStorage: "1Gi", ...named })).not.toThrow();
    expect(() => made({ historyStorage: "1Gi", ...off })).not.toThrow();
    expect(() => made({ historyStorage: "much" })).toThrow("historyStorage: expected a size such as 512Mi or 10Gi");
  });
});

describe("with a database", () => {
  test("two pods have its address as a file, and no disk", () => {
    const objects = made(named);
    expect(objects.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
    const deployment = objectNamed(objects, "Deployment", "history");
    expect(deployment["spec"]).toMatchObject({ replicas: 2, strategy: { type: "RollingUpdate" } });
    expect(objectNamed(objects, "PodDisruptionBudget", "history")["spec"]).toMatchObject({ maxUnavailable: 1 });
    const { volumes, containers } = podsOf(deployment);
    const sources = [{ secret: { name: "history-key" } }, { secret: { name: "history-database" } }];
    expect(volumes).toContainEqual(expect.objectContaining({ projected: { defaultMode: 0o440, sources } }));
    const writable = containers[0].volumeMounts.filter(({ readOnly }) => readOnly !== true);
    expect(writable.map(({ mountPath }) => mountPath)).toEqual(["/tmp"]);
  });

  test("its address is in one Secret, and nowhere else", () => {
    const platform = readPlatform({ ...named, nats: { tls: false } });
    expect(JSON.stringify([platform, ...objectsOf(platform)])).not.toMatch(/s3cret|db\.example/);
    const secrets = secretManifests(platform, { ...freshSecrets(platform), historyDatabase });
    const holding = secrets.filter((secret) => JSON.stringify(secret).includes("s3cret"));
    expect(holding).toMatchObject([
      { metadata: { name: "history-database" }, stringData: { "history-database": historyDatabase } },
    ]);
    expect(() => secretManifests(platform, freshSecrets(platform))).toThrow(
      'Cannot make secret "history-database": it has none',
    );
  });

  test.each([
    "mysql://weir:s3cret@db/calls",
    "db.example.com:5432/calls",
    "postgres:///calls",
    "postgres://db/calls",
    "postgres://weir:s3cret@db:99999/calls",
    "postgres://weir:s3cret@one:5432,two:5432/calls",
    "postgres://weir:s3%cret@db/calls",
    "postgres://weir:s3#cret@db/calls",
    "postgres://weir:s3cret@db/calls?sslmode=disable",
    "postgres://weir:s3cret@db/calls?sslmode=allow",
    "postgres://weir:s3cret@db/calls?options=x",
  ])("%s is refused, not shown, and nothing that the history would read", (address) => {
    expect(() => made({ historyDatabase: address })).toThrow(
      /^Cannot make the platform: historyDatabase: expected an address such as "postgres:\/\/weir:password@db[^;]*, got "\[secret\]" \(settings file\)$/,
    );
    expect(() => parsePostgresAddress(address)).toThrow("Cannot read the address of the database");
  });

  test.each([
    ["postgres://weir@db/calls", 5432],
    ["postgres://weir:s3cret@db", 5432],
    ["postgresql://weir:a%40b@db.example.com:6543/calls?sslmode=verify-full&channel_binding=disable", 6543],
    ["postgres://weir@[fd00::1]:5433/calls?sslmode=require&sslrootcert=/var/secrets/ca.crt", 5433],
  ])("%s is reached on its port alone", (address, port) => {
    expect(parsePostgresAddress(address)).toMatchObject({ port, tls: {} });
    const { spec } = objectNamed(made({ historyDatabase: address }), "NetworkPolicy", "history");
    const { egress } = spec as { readonly egress: readonly object[] };
    expect(egress.at(-1)).toEqual({ ports: [{ port, protocol: "TCP" }] });
  });
});

test("an authority is verified by where it is mounted, unless the address names one", () => {
  const authorityOf = (address: string) => parsePostgresAddress(withAuthority(address)).tls?.rootCertificate;
  const mounted = "/var/secrets/history-database-ca.crt";
  expect(authorityOf("postgres://weir:a%3Fb@db/calls")).toBe(mounted);
  expect(authorityOf("postgres://weir@db/calls?sslmode=verify-full")).toBe(mounted);
  expect(authorityOf("postgres://weir@db/calls?sslrootcert=/mine.crt")).toBe("/mine.crt");
});

describe("the network", () => {
  const apiServer = { ports: ["6443"], serviceAddresses: ["10.96.0.1"], ranges: ["10.0.0.0/28"] };
  const policy = (name: string, input: Input = {}) =>
    objectNamed(made({ apiServer, ...input }), "NetworkPolicy", name)["spec"] as {
      readonly ingress: readonly object[];
      readonly egress: readonly object[];
    };
  const from = (process: string) => ({ podSelector: { matchLabels: { "app.kubernetes.io/name": process } } });
  const tcp = (...ports: readonly number[]) => ports.map((port) => ({ port, protocol: "TCP" }));

  test("lets gateways alone ask it, and it reach broker and API server", () => {
    expect(policy("history")).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/name": "history" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [from("gateway")], ports: tcp(8083) }],
      egress: [
        { to: [from("nats")], ports: tcp(4222, 8222) },
        { to: [{ ipBlock: { cidr: "10.96.0.1/32" } }], ports: tcp(443) },
        { to: [{ ipBlock: { cidr: "10.0.0.0/28" } }], ports: tcp(6443) },
      ],
    });
    expect(policy("gateway").egress).toContainEqual({ to: [from("history")], ports: tcp(8083) });
    for (const other of ["queue-worker", "queue-doctor", "autoscaler", "operator"])
      expect(JSON.stringify(policy(other)), other).not.toContain("8083");
  });

  test("of several servers of the broker, it asks none for its monitoring", () => {
    const three = { nats: { replicas: 3 } };
    expect(policy("history", three).egress[0]).toEqual({ to: [from("nats")], ports: tcp(4222) });
    expect(policy("nats", three).ingress.at(-1)).toEqual({
      from: [from("gateway"), from("queue-worker"), from("queue-doctor")],
      ports: tcp(8222),
    });
    expect(variablesOf(deploymentOf(three))).not.toHaveProperty("nats_monitor_url");
    expect(variablesOf(deploymentOf())).toMatchObject({
      nats_monitor_url: "http://nats-0.nats-headless.weir.svc.cluster.local:8222",
    });
  });

  test("its metrics are scraped as those of the others", () => {
    const monitored = { monitoring: { namespaceLabels: { team: "ops" } } };
    expect(policy("history", monitored).ingress).toHaveLength(2);
    expect(policy("history", monitored).ingress[1]).toMatchObject({ ports: tcp(8082) });
  });
});

test("its settings can be set, and reach all that read them", () => {
  const input = { historyAge: "720h", keptLogs: false, historySyncSample: 0.5, historyBodies: "1h", leaseTtl: "20s" };
  const environment = { ...variablesOf(deploymentOf(input)), kubernetes_host: "10.0.0.1", kubernetes_port: "443" };
  delete (environment as Record<string, unknown>)["NODE_OPTIONS"];
  expect(readSettings(historySettings, { environment })).toMatchObject({
    historyAge: 720 * 3_600_000,
    keptLogs: false,
    leaseTtl: 20_000,
    functionNamespace: "functions",
  });
  expect(variablesOf(deploymentOf(input, "gateway"))).toMatchObject({ kept_logs: "false", history_sync_sample: "0.5" });
  expect(variablesOf(deploymentOf(input, "queue-worker"))).toMatchObject({ history_bodies: "1h" });
  for (const key of ["historyDir", "historyPort", "historyUrl", "logProvider"])
    expect(() => made({ [key]: "1" })).toThrow(`${key}: the platform decides it, it cannot be set`);
});

test("its memory is that of the process and of those that read its files, unless it is given", () => {
  const memoryOf = (input: Input) => podsOf(deploymentOf(input)).containers[0].resources.limits["memory"];
  expect(memoryOf({})).toBe("384Mi");
  expect(memoryOf({ keptLogs: false })).toBe("320Mi");
  expect(memoryOf(named)).toBe("256Mi");
  expect(memoryOf({ memory: { history: "1Gi" } })).toBe("1Gi");
});

test("the key is mounted in gateways and in the history alone", () => {
  const holders = made()
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .filter((object) => JSON.stringify(podsOf(object).volumes).includes('"history-key"'));
  expect(holders.map(({ metadata }) => metadata.name)).toEqual(["gateway", "history"]);
});
