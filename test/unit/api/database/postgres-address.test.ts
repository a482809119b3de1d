import { inspect } from "node:util";

import { describe, expect, test } from "vitest";

import { parsePostgresAddress, postgresPlace } from "../../../../runtime/api/database/postgres-address.ts";

const channelBinding = true;

describe("parsePostgresAddress()", () => {
  test.each([
    ["postgres://u:p@db.example/weir", { host: "db.example", port: 5432, database: "weir", tls: { channelBinding } }],
    [" postgresql://u:p@db.example:6432\n", { host: "db.example", port: 6432, database: "u", tls: { channelBinding } }],
    ["postgres://u:p@10.0.0.7/w?sslmode=require", { host: "10.0.0.7", tls: { channelBinding } }],
    ["postgres://u:p@db/w?sslmode=prefer&channel_binding=disable", { tls: { channelBinding: false } }],
    [
      "postgres://u:p@db/w?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem",
      { tls: { rootCertificate: "/ca.pem", certificate: "/c.pem", key: "/k.pem", channelBinding } },
    ],
    ["postgres://u:p@db/w?sslrootcert=system", { tls: { channelBinding } }],
    ["postgres://u:p@localhost/w", { host: "localhost", tls: undefined }],
    ["postgres://u:p@127.3.2.1:1/w?sslmode=disable", { port: 1, tls: undefined }],
    ["postgres://u:p@[::1]:5433/w", { host: "::1", port: 5433, tls: undefined }],
    ["postgres://u:p@[2001:db8::1]/w", { host: "2001:db8::1", tls: { channelBinding } }],
    ["postgres://u:p@localhost/w?sslmode=verify-full", { tls: { channelBinding } }],
    ["postgres://u:p@%2Fvar%2Frun%2Fpostgresql/w", { host: "/var/run/postgresql", tls: undefined }],
    ["postgres://u@/w?host=/run/pg", { host: "/run/pg", port: 5432, database: "w", tls: undefined }],
    ["postgres://u:p@:5433/w?host=/run/pg&sslmode=require", { host: "/run/pg", port: 5433, tls: undefined }],
    ["postgres://u%40x:p%2F%3A%25@db/w%20x", { user: "u@x", database: "w x" }],
  ])("reads %s", (uri, expected) => {
    const address = parsePostgresAddress(uri);
    for (const [name, value] of Object.entries(expected))
      expect([name, Reflect.get(address, name)]).toEqual([name, value]);
  });

  test("hands out the password by a function alone", () => {
    const address = parsePostgresAddress("postgres://u:s%40cret%2F@db/w");
    expect(address.password()).toBe("s@cret/");
    expect(inspect(address, { depth: 9 }) + JSON.stringify(address)).not.toMatch(/cret/);
  });

  test.each([
    ["", "it is empty"],
    ["mysql://u:secret@db/w", "its form is not postgres://user:password@host:port/database"],
    ["u:secret@db", "its form is not"],
    ["host=db password=secret", "its form is not"],
    ["postgres://u:se/cret@db/w", "its form is not"],
    ["postgres://u:12/secret@db", "it names no user"],
    ["postgres://u:secret#x@db/w", "its form is not"],
    ["postgres://u:12#secret@db/w", 'it has a "#", which has to be written as %23'],
    ["postgres://u:12?secret@db/w", "it has a parameter that is none of host, sslmode"],
    ["postgres://u:secret%zz@db/w", 'it has a "%" that begins no character'],
    ["postgres://u:secret@db,other/w?x=secret", "it has a parameter"],
    ["postgres://u:secret@db:1,other:2/w", "its form is not"],
    ["postgres://u:secret@db:99999/w", "its form is not"],
    ["postgres://:secret@db/w", "it names no user"],
    ["postgres:///w?password=secret", "it has a parameter"],
    ["postgres://u:secret@/w", "it names no host"],
    ["postgres://u:p@db/w/secret", 'the name of its database has a "/"'],
    ["postgres://u:secret@db/w?sslmode=no-verify", "its sslmode is none of disable, allow"],
    ["postgres://u:secret@db/w?sslmode=disable", "its sslmode is disable, and only on this machine TLS may be off"],
    ["postgres://u:secret@localhost.evil/w?sslmode=allow", "its sslmode is allow"],
    ["postgres://u:secret@db/w?sslcert=/c.pem", "sslcert and sslkey need each other"],
  ])("refuses %s, and shows nothing of it", (uri, reason) => {
    let message = "";
    try {
      parsePostgresAddress(uri);
    } catch (err) {
      message = inspect(err);
    }
    expect(message).toContain(`Cannot read the address of the database: ${reason}`);
    expect(message).not.toContain("secret");
    expect(message).not.toContain("cret@");
  });
});

test("postgresPlace() names a host with its port, or a directory", () => {
  const placeOf = (uri: string): string => postgresPlace(parsePostgresAddress(uri));
  expect(placeOf("postgres://u:p@db/w")).toBe("db:5432");
  expect(placeOf("postgres://u:p@[::1]:7/w")).toBe("[::1]:7");
  expect(placeOf("postgres://u:p@/w?host=/run/pg")).toBe("/run/pg");
});
