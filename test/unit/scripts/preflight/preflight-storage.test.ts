import { describe, expect, test } from "vitest";

import { readPlatform } from "../../../../infra/manifests/read-platform.ts";
import { checkStorage } from "../../../../scripts/preflight/check-storage.ts";
import { lineOf } from "../../../../scripts/preflight/finding.ts";
import { clusterOf } from "../../../support/pretended-lists.ts";

const classesPath = "/apis/storage.k8s.io/v1/storageclasses";
const volumesPath = "/api/v1/persistentvolumes";
const claimsPath = "/api/v1/namespaces/weir/persistentvolumeclaims";
const platform = (nats: Readonly<Record<string, unknown>> = {}, more: Readonly<Record<string, unknown>> = {}) =>
  readPlatform({ nats: { tls: false, ...nats }, history: false, ...more });

const slow = { metadata: { name: "slow" } };
const fast = {
  metadata: { name: "fast", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  allowVolumeExpansion: true,
};

async function look(
  nats: Readonly<Record<string, unknown>>,
  classes: readonly object[],
  more: Readonly<Record<string, object>> = {},
): Promise<string[]> {
  return (await checkStorage(clusterOf({ [classesPath]: { items: classes }, ...more }), platform(nats))).map(lineOf);
}

test.each([
  ["none", [], {}, "PROBLEM no storage class is the default one: set weir:nats.storageClass; there is none"],
  [
    "no default class",
    [slow],
    {},
    "PROBLEM no storage class is the default one: set weir:nats.storageClass; there are slow",
  ],
  ["a default class", [slow, fast], {}, "ok      storage class fast for 1 × 10Gi"],
  [
    "no class of the name that is set",
    [fast],
    { storageClass: "slow" },
    'PROBLEM there is no storage class "slow": set weir:nats.storageClass; there are fast',
  ],
])("class: %s", async (_what, classes, nats, line) => {
  expect(await look(nats, classes)).toEqual([line]);
});

test("a class that cannot grow is reported", async () => {
  const lines = await look({ storageClass: "slow" }, [slow]);
  expect(lines).toEqual([expect.stringMatching(/^ok /), expect.stringMatching(/^note .*cannot grow/)]);
});

test("storage of an external broker does not matter", async () => {
  expect(await look({ url: "nats://broker:4222" }, [])).toEqual([expect.stringMatching(/^note /)]);
});

describe("a class without a provisioner", () => {
  const fixed = { ...fast, provisioner: "kubernetes.io/no-provisioner" };
  const volume = (storage: string, more: object = {}, phase = "Available") => ({
    spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"], capacity: { storage }, ...more },
    status: { phase },
  });

  test("has enough volumes that are free, large enough, and of the right mode", async () => {
    const volumes = { [volumesPath]: { items: [volume("20Gi"), volume("21Gi"), volume("1Ti")] } };
    expect(await look({ replicas: "3", storage: "20Gi" }, [fixed], volumes)).toEqual([
      "ok      storage class fast for 3 × 20Gi",
    ]);
  });

  test.each([
    ["too small", volume("19Gi")],
    ["taken", volume("20Gi", {}, "Bound")],
    ["released and not yet free", volume("20Gi", {}, "Released")],
    ["of another class", volume("20Gi", { storageClassName: "other" })],
    ["of another mode", volume("20Gi", { accessModes: ["ReadWriteMany"] })],
  ])("has one that is %s", async (_what, useless) => {
    const volumes = { [volumesPath]: { items: [volume("20Gi"), useless] } };
    expect(await look({ replicas: "3", storage: "20Gi" }, [fixed], volumes)).toEqual([
      "PROBLEM storage class fast makes no volumes, and of 3 × 20Gi has 1: add volumes, set weir:nats.storage to what they have, or choose another weir:nats.storageClass",
    ]);
  });

  test("needs none for existing claims", async () => {
    const claims = [0, 1, 2].map((index) => ({
      metadata: { name: `data-nats-${index}` },
      spec: { resources: { requests: { storage: "20Gi" } } },
    }));
    expect(
      await look({ replicas: "3", storage: "20Gi" }, [fixed], {
        [volumesPath]: { items: [] },
        [claimsPath]: { items: claims },
      }),
    ).toEqual(["ok      storage class fast for 3 × 20Gi"]);
  });
});

describe("a driver that creates the volumes", () => {
  const drivers = "/apis/storage.k8s.io/v1/csidrivers";
  const of = (provisioner: string) => [{ ...fast, provisioner }];

  test("must be registered where Kubernetes migrated its own driver to it", async () => {
    expect(await look({}, of("kubernetes.io/aws-ebs"))).toEqual([
      "PROBLEM storage class fast is of CSI driver ebs.csi.aws.com, which is not registered in the cluster: install it, or choose another weir:nats.storageClass",
    ]);
    expect(await look({}, of("kubernetes.io/aws-ebs"), { [`${drivers}/ebs.csi.aws.com`]: {} })).toEqual([
      "ok      storage class fast for 1 × 10Gi",
    ]);
  });

  test("may otherwise be unregistered", async () => {
    expect(await look({}, of("csi.example.com"))).toEqual([expect.stringMatching(/^note .*csi\.example\.com/)]);
    expect(await look({}, of("rancher.io/local-path"))).toEqual(["ok      storage class fast for 1 × 10Gi"]);
  });

  test.each([
    "efs.csi.aws.com",
    "file.csi.azure.com",
    "nfs.csi.k8s.io",
    "cluster.local/nfs-subdir-external-provisioner",
  ])("of file shares cannot be used: %s", async (provisioner) => {
    expect(await look({}, of(provisioner), { [`${drivers}/${provisioner}`]: {} })).toEqual([
      expect.stringMatching(/^PROBLEM storage class fast makes file shares/),
    ]);
  });
});

test("claims of another size keep it", async () => {
  const claim = { metadata: { name: "data-nats-0" }, spec: { resources: { requests: { storage: "10Gi" } } } };
  expect(await look({ storage: "20Gi" }, [fast], { [claimsPath]: { items: [claim] } })).toEqual([
    "ok      storage class fast for 1 × 20Gi",
    "note    claims of another size are there and keep it: data-nats-0 (10Gi): weir:nats.storage is 20Gi; docs/install.md says how they grow",
  ]);
  const other = { ...claim, metadata: { name: "data-other-0" } };
  expect(await look({ storage: "20Gi" }, [fast], { [claimsPath]: { items: [other] } })).toHaveLength(1);
});

describe("the disk of the history", () => {
  const lookWith = async (
    more: Readonly<Record<string, unknown>>,
    classes: readonly object[],
    content: Readonly<Record<string, object>> = {},
  ): Promise<string[]> => {
    const cluster = clusterOf({ [classesPath]: { items: classes }, ...content });
    return (await checkStorage(cluster, platform({}, { history: true, ...more }))).map(lineOf);
  };

  test("is counted with those of the broker, also where that runs elsewhere", async () => {
    expect(await lookWith({}, [fast])).toEqual(["ok      storage class fast for 1 × 10Gi and 1 × 5Gi"]);
    expect(await lookWith({ nats: { url: "nats://broker:4222", tls: false } }, [fast])).toEqual([
      "note    the broker at nats://broker:4222 is not looked at",
      "ok      storage class fast for 1 × 5Gi",
    ]);
    const lines = await lookWith({}, [{ ...slow, metadata: { ...fast.metadata, name: "slow" } }]);
    expect(lines[1]).toBe(
      "note    its volumes cannot grow: choose weir:nats.storage and weir:historyStorage for what is to come",
    );
  });

  test("is not needed with a database, which is not looked at", async () => {
    const historyDatabase = "postgres://weir:word@db:6543/calls";
    expect(await lookWith({ historyDatabase }, [fast])).toEqual([
      "note    the database of the history is not looked at: it must be PostgreSQL 15 or later, which pods reach on port 6543",
      "ok      storage class fast for 1 × 10Gi",
    ]);
  });

  test("takes none of the volumes that the broker needs", async () => {
    const volume = (storage: string) => ({
      spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"], capacity: { storage } },
      status: { phase: "Available" },
    });
    const fixed = [{ ...fast, provisioner: "kubernetes.io/no-provisioner" }];
    const volumes = (...sizes: readonly string[]) => ({ [volumesPath]: { items: sizes.map(volume) } });
    expect(await lookWith({}, fixed, volumes("10Gi", "5Gi"))).toHaveLength(1);
    expect(await lookWith({}, fixed, volumes("10Gi"))).toEqual([
      "PROBLEM storage class fast makes no volumes, and of 1 × 5Gi has 0: add volumes, set weir:historyStorage to what they have, or choose another weir:nats.storageClass",
    ]);
  });

  test("can grow where its class allows that, and never shrink", async () => {
    const claims = (storage: string) => ({
      [claimsPath]: { items: [{ metadata: { name: "history" }, spec: { resources: { requests: { storage } } } }] },
    });
    expect(await lookWith({}, [fast], claims("4Gi"))).toHaveLength(1);
    const fixed = { ...fast, allowVolumeExpansion: false };
    expect((await lookWith({}, [fixed], claims("4Gi"))).at(-1)).toBe(
      "PROBLEM claim history of 4Gi cannot grow, as class fast does not allow it: set weir:historyStorage to 4Gi",
    );
    expect((await lookWith({}, [fast], claims("8Gi"))).at(-1)).toBe(
      "PROBLEM claim history of 8Gi cannot shrink: set weir:historyStorage to 8Gi or more",
    );
  });
});
