import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openPostgresStores } from "../../runtime/adapters/postgres/open-postgres-stores.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { selfSigned } from "../support/self-signed.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

let server: PostgresServer;
let directory: TempDirectory;
let own: string;
let other: string;
beforeAll(async () => {
  directory = await tempDirectory("certificates");
  [own, other] = [join(directory.path, "own.pem"), join(directory.path, "other.pem")];
  const tls = await selfSigned();
  await writeFile(own, tls.cert);
  await writeFile(other, (await selfSigned()).cert);
  server = await openPostgresServer({ tls });
});
afterAll(async () => {
  await server?.close();
  await directory?.remove();
});

async function isEncrypted(uri: string): Promise<boolean> {
  const { close, reads } = await openPostgresStores(uri, { keptLogs: false });
  try {
    expect(await reads.gaps()).toEqual([]);
    const found = await server.query(
      uri.replace(/\?.*/, ""),
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'weir-history'",
    );
    return found.length > 0 && found.every(({ ssl }) => ssl === true);
  } finally {
    await close();
  }
}

test("the certificate of the server is verified in each mode but disable, against the authorities of the URI", async () => {
  for (const mode of ["require", "verify-ca", "verify-full"])
    expect(await isEncrypted(await server.newDatabase(`?sslmode=${mode}&sslrootcert=${own}`))).toBe(true);
  expect(await isEncrypted(await server.newDatabase())).toBe(false);
  expect(await isEncrypted(await server.newDatabase("?sslmode=disable"))).toBe(false);
  for (const query of ["?sslmode=require", `?sslmode=verify-full&sslrootcert=${other}`])
    await expect(openPostgresStores(await server.newDatabase(query), { keptLogs: false })).rejects.toThrow(
      /^Cannot open history: PostgreSQL at "127\.0\.0\.1:\d+" cannot be reached: .*self.signed certificate/,
    );
  const missing = await server.newDatabase("?sslmode=require&sslrootcert=/none.pem");
  await expect(openPostgresStores(missing, { keptLogs: false })).rejects.toThrow(
    'Cannot read file "/none.pem" for the database: ENOENT',
  );
});

test("a socket needs no TLS", async () => {
  const { pathname, port } = new URL(await server.newDatabase());
  const password = encodeURIComponent(server.password);
  for (const uri of [
    `postgres://weir:${password}@${encodeURIComponent(server.directory)}:${port}${pathname}`,
    `postgres://weir:${password}@:${port}${pathname}?host=${server.directory}`,
  ]) {
    const { reads, close } = await openPostgresStores(uri, { keptLogs: false });
    expect(await reads.functions()).toEqual([]);
    await close();
  }
});

test("a wrong password, and an unknown database, are said", async () => {
  const uri = await server.newDatabase();
  await expect(
    openPostgresStores(uri.replace(encodeURIComponent(server.password), "other"), { keptLogs: false }),
  ).rejects.toThrow(/cannot be reached: password authentication failed for user "weir"$/);
  await expect(openPostgresStores(uri.replace(/history\d+$/, "none"), { keptLogs: false })).rejects.toThrow(
    /cannot be reached: database "none" does not exist$/,
  );
});
