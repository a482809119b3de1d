import { execFile } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { clusterClient } from "../../support/cluster-client.ts";
import { listedCall } from "../../support/cluster-history.ts";
import type { ClusterPlatform } from "../../support/cluster-platform.ts";
import { openPostgresServer, type PostgresServer } from "../../support/postgres-server.ts";
import { hasPulumi, longStep, smallStack, stacksCluster } from "../../support/stacks-cluster.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { expectNothingLeft, openWeirStack, stackPlatform, type WeirStack } from "../../support/weir-stack.ts";

const opened = stacksCluster();
/** Address of this machine in the network of pods. */
const here = "10.244.0.1";

describe.skipIf(!hasPulumi)("a stack whose history is in a PostgreSQL database", () => {
  let files: TempDirectory;
  let database: PostgresServer;
  let uri: string;
  let stack: WeirStack;
  let platform: ClusterPlatform;
  const client = clusterClient(() => platform);

  beforeAll(async () => {
    files = await tempDirectory("history-database");
    const tls = await certificate(files.path);
    const rules = join(files.path, "hba.conf");
    await writeFile(
      rules,
      "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\nhostssl all all 0.0.0.0/0 scram-sha-256\n",
    );
    await chmod(files.path, 0o755);
    database = await openPostgresServer({ tls, settings: { listen_addresses: `127.0.0.1,${here}`, hba_file: rules } });
    uri = await database.newDatabase();
    stack = await openWeirStack(opened().cluster, "community");
    await stack.configure({ ...smallStack, "weir:historyDatabaseAuthority": tls.cert.toString() });
    await stack.configureSecret("weir:historyDatabase", uri.replace("@127.0.0.1:", `@${here}:`));
    await stack.expect("up");
    platform = await stackPlatform(stack, opened().cluster, opened().image);
    await client.deploy("recorded");
  }, longStep);
  afterAll(async () => {
    await stack?.close();
    await database?.close();
    await files?.remove();
  }, longStep);

  const recorded = async (): Promise<string> => {
    const queued = await client.send("/async-function/recorded", { method: "POST", body: "hello" });
    const id = queued.headers.get("x-call-id") ?? "";
    expect(await client.ended(id)).toMatchObject({ state: "done" });
    await listedCall(client, "recorded", id);
    return id;
  };
  const rows = (): Promise<unknown> => database.query(uri, "SELECT count(*)::int AS calls FROM weir.call");

  test("has two pods without a disk, of which one writes", async () => {
    await recorded();
    expect(await rows()).toEqual([{ calls: 1 }]);
    const ready = "--output=jsonpath={.status.readyReplicas}";
    expect(await stack.kubectl("get", "deployment", "history", ready)).toBe("2");
    expect(await stack.kubectl("get", "persistentvolumeclaims", "--output=name")).not.toContain("/history");
    expect(await stack.files()).not.toContain(encodeURIComponent(database.password));
  });

  test("goes on when both pods were replaced, one after the other", async () => {
    const first = await recorded();
    await stack.kubectl("rollout", "restart", "deployment/history");
    await stack.kubectl("rollout", "status", "deployment/history", "--timeout=120s");
    await recorded();
    expect((await client.send(`/system/calls/${first}`)).status).toBe(200);
    expect(await rows()).toEqual([{ calls: 3 }]);
  }, 180_000);

  test("goes on when the database was away, and no call fails meanwhile", async () => {
    await database.stop();
    const queued = await client.send("/async-function/recorded", { method: "POST", body: "hello" });
    const id = queued.headers.get("x-call-id") ?? "";
    expect(await client.ended(id)).toMatchObject({ state: "done" });
    expect((await client.send("/system/calls")).status).toBe(503);
    await database.start();
    await listedCall(client, "recorded", id);
    expect(await rows()).toEqual([{ calls: 4 }]);
  }, 180_000);

  test("destroy leaves nothing", () => expectNothingLeft(stack), longStep);
});

/** A self-signed certificate for the address of this machine that pods reach. */
async function certificate(directory: string): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const name = ["-subj", "/CN=database", "-addext", `subjectAltName=IP:${here}`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    ...curve,
    "-nodes",
    "-days",
    "2",
    "-keyout",
    key,
    "-out",
    cert,
    ...name,
  ]);
  return { cert: await readFile(cert), key: await readFile(key) };
}
