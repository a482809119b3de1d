import { describe, expect, test } from "vitest";

import { formatNatsServerConfig } from "../../../../../runtime/adapters/nats/server/nats-server-config.ts";
import { natsUsers } from "../../../../../runtime/api/broker/nats-users.ts";
import {
  compareVersions,
  minorOf,
  parseVersion,
} from "../../../../../runtime/adapters/nats/server/nats-server-version.ts";
import { checkStoreVersion } from "../../../../../runtime/adapters/nats/server/store-note.ts";
import { decideMaxFileStore } from "../../../../../runtime/adapters/nats/server/store-space.ts";

const users = natsUsers({ queues: ["default", "a_b"], oneMachine: true });
const passwords = Object.fromEntries(users.map(({ name }) => [name, `password of ${name}`]));
const config = {
  port: 4222,
  monitorPort: 8222,
  serverName: "weir",
  storeDirectory: '/data "quoted" \\ é/store',
  maxFileStore: 1_048_576,
  durability: "interval",
  payloadLimit: 1_048_576,
  logFile: "/data/log",
  pidFile: "/data/pid",
  users,
  passwords,
} as const;

describe("formatNatsServerConfig", () => {
  test("listens on loopback only and lets nobody in without a user", () => {
    const written = JSON.parse(formatNatsServerConfig(config)) as Record<string, unknown>;
    expect(written).toMatchObject({
      listen: "127.0.0.1:4222",
      http: "127.0.0.1:8222",
      max_payload: 1_310_720,
      jetstream: { store_dir: config.storeDirectory, max_file_store: 1_048_576, sync_interval: "100ms" },
    });
    for (const key of ["no_auth_user", "websocket", "leafnodes", "gateway", "cluster", "mqtt"])
      expect(written).not.toHaveProperty(key);
  });

  test("names every user with a password and closed lists of rights", () => {
    const written = JSON.parse(formatNatsServerConfig(config)) as {
      authorization: { users: { user: string; password: string; permissions: { publish: { allow: string[] } } }[] };
    };
    expect(written.authorization.users.map(({ user, password }) => [user, password])).toEqual(
      Object.entries(passwords),
    );
    for (const { permissions } of written.authorization.users)
      expect(permissions.publish.allow.length).toBeGreaterThan(0);
  });

  test("syncs always when that is set", () => {
    expect(formatNatsServerConfig({ ...config, durability: "always" })).toContain('"sync_interval": "always"');
  });

  test("is refused for a user without a password", () => {
    expect(() => formatNatsServerConfig({ ...config, passwords: {} })).toThrow('user "gateway" has no password');
  });
});

describe("natsUsers", () => {
  test("has one worker per queue, a provider only on one machine, and a history unless it is off", () => {
    expect(users.map(({ name }) => name)).toEqual([
      "gateway",
      "worker-default",
      "worker-a_b",
      "provider",
      "history",
      "autoscaler",
      "doctor",
    ]);
    const cluster = natsUsers({ queues: ["default"], oneMachine: false });
    expect(cluster.map(({ name }) => name)).toEqual(["gateway", "worker-default", "history", "autoscaler", "doctor"]);
    const without = natsUsers({ queues: ["default"], oneMachine: false, history: false });
    expect(without.map(({ name }) => name)).toEqual(["gateway", "worker-default", "autoscaler", "doctor"]);
  });

  test("keeps functions, namespaces and endpoints out of a cluster's broker", () => {
    const cluster = natsUsers({ queues: ["default"], oneMachine: false });
    for (const { rights } of cluster) {
      expect(rights.publish.filter((subject) => /functions|namespaces|endpoints/.test(subject))).toEqual([]);
    }
  });

  test("lets a history read records, letters and reports, and write nothing but its lease", () => {
    for (const oneMachine of [true, false]) {
      const history = natsUsers({ queues: ["default"], oneMachine }).find(({ name }) => name === "history");
      const { publish = [], subscribe } = history?.rights ?? {};
      expect(subscribe).toEqual(["_INBOX.hs.>", "history.sync", "history.rollup", "history.scaling"]);
      expect(publish.filter((subject) => !subject.startsWith("$JS."))).toEqual(["$KV.queues.lease.process.history"]);
      const api = publish.flatMap((subject) => /^\$JS\.API\.(.*)$/.exec(subject)?.[1] ?? []);
      const reading =
        /^(?:CONSUMER\.(?:CREATE|MSG\.NEXT|DELETE)|STREAM\.INFO|STREAM\.MSG\.GET)\.(?:KV_calls|KV_queues|DLQ)\b/;
      // What is kept of requests goes with the calls of a function that is erased.
      expect(api.filter((subject) => !reading.test(subject) && !subject.includes("KV_namespaces"))).toEqual([
        "STREAM.PURGE.KV_requests",
      ]);
      expect(api.some((subject) => subject.includes("KV_namespaces"))).toBe(oneMachine);
    }
  });

  test("gives each user its own inbox, and never the calls of others", () => {
    expect(new Set(users.map(({ inboxPrefix }) => inboxPrefix)).size).toBe(users.length);
    for (const { inboxPrefix, rights } of users) {
      expect(rights.subscribe.filter((subject) => subject.startsWith("_INBOX"))).toEqual([`${inboxPrefix}.>`]);
      expect(rights.subscribe.filter((subject) => subject === ">" || subject.startsWith("q."))).toEqual([]);
    }
  });

  test("lets only the doctor reach the whole JetStream API", () => {
    const reaching = users.filter(({ rights }) => rights.publish.includes("$JS.API.>"));
    expect(reaching.map(({ name }) => name)).toEqual(["doctor"]);
  });

  test("lets only the gateway write calls, and workers only their own lease", () => {
    const mayPublish = (subject: string): string[] =>
      users.filter(({ rights }) => rights.publish.includes(subject)).map(({ name }) => name);
    expect(mayPublish("q.>")).toEqual(["gateway"]);
    expect(mayPublish("$KV.endpoints.>")).toEqual(["provider"]);
    expect(mayPublish("$KV.queues.lease.queue.a_b")).toEqual(["worker-a_b"]);
    expect(mayPublish("$JS.API.CONSUMER.MSG.NEXT.Q_a_b.workers")).toEqual(["worker-a_b"]);
  });

  test("reads records and queues from their leader alone", () => {
    for (const { name, rights } of users) {
      if (name !== "doctor")
        expect(rights.publish.filter((subject) => /DIRECT.*KV_(?:calls|queues)/.test(subject))).toEqual([]);
    }
  });
});

describe("versions of nats-server", () => {
  test.each([
    ["2.12.7", "2.12.7", 0],
    ["2.12.15", "2.12.7", 1],
    ["2.9.25", "2.12.7", -1],
    ["2.15.1", "2.15.2", -1],
    ["3.0.0", "2.99.99", 1],
    ["2.15", "2.15.0", 0],
  ])("%s against %s", (left, right, expected) => {
    expect(Math.sign(compareVersions(left, right))).toBe(expected);
  });

  test.each([
    ["nats-server: v2.15.1\n", "2.15.1"],
    ["nats-server: v2.12.0-RC.1\n", "2.12.0"],
    ["nginx 1.0", undefined],
    ["", undefined],
  ])("reads %j", (output, expected) => {
    expect(parseVersion(output)).toBe(expected);
  });

  test("an older minor version than the store's is refused, an older patch is not", () => {
    expect(minorOf("2.15.1")).toBe("2.15");
    expect(() => checkStoreVersion("2.15.3", "2.15.1")).not.toThrow();
    expect(() => checkStoreVersion("2.15.3", "2.16.0")).not.toThrow();
    expect(() => checkStoreVersion("2.15.3", "2.14.9")).toThrow("use nats-server 2.15 or newer");
    expect(() => checkStoreVersion("2.15.3", "2.9.9")).toThrow("going back can break it");
  });
});

describe("decideMaxFileStore", () => {
  const gibibyte = 1_073_741_824;
  const mebibyte = 1_048_576;

  test("takes 65 % of the space that is free or already used by the store", () => {
    expect(decideMaxFileStore({ free: 10 * gibibyte, used: 0, noted: undefined })).toBe(6.5 * gibibyte);
    expect(decideMaxFileStore({ free: 4 * gibibyte, used: 6 * gibibyte, noted: undefined })).toBe(6.5 * gibibyte);
    expect(decideMaxFileStore({ free: 64 * mebibyte, used: 0, noted: undefined })).toBe(41 * mebibyte);
  });

  test("keeps the noted size while it is within 70 % and not far too small", () => {
    const noted = 6.5 * gibibyte;
    expect(decideMaxFileStore({ free: 9.5 * gibibyte, used: 0, noted })).toBe(noted);
    expect(decideMaxFileStore({ free: 18 * gibibyte, used: 0, noted })).toBe(noted);
    expect(decideMaxFileStore({ free: 9 * gibibyte, used: 0, noted })).toBe(Math.floor(9 * 1_024 * 0.65) * mebibyte);
    expect(decideMaxFileStore({ free: 20 * gibibyte, used: 0, noted })).toBe(13 * gibibyte);
  });
});
