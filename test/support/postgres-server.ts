import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { Client } from "pg";

import { postgresPrograms } from "../../scripts/postgres-programs.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { say } from "./say.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface PostgresServerOptions {
  /** PEM: with it, TLS is taken, too. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** More settings of its configuration. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A real PostgreSQL for one test file, on a port of this machine and a socket, with a store of its own. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Directory of its socket. */
  readonly directory: string;
  readonly password: string;
  /** Creates an empty database; resolves with the URI of it. */
  newDatabase(options?: string): Promise<string>;
  /** Runs a statement as the owner of a database, on a connection of its own; resolves with its rows. */
  query(uri: string, text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Ends it: connections are closed, what was stored is kept. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash does. */
  crash(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const user = "weir";
/** It has to be escaped in a URI. */
const password = "p@ss/w:rd?#%";

/** Starts one; `close` it in the end. It refuses to run as root, so it runs as another user then. */
export async function openPostgresServer({ tls, settings = {} }: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms(say);
  if (programs === undefined) throw new Error("PostgreSQL is missing (Debian: apt-get install postgresql)");
  const home = await tempDirectory("postgres");
  const owner = process.getuid?.() === 0 ? await otherUser() : undefined;
  const [data, log, port] = [join(home.path, "data"), join(home.path, "log"), await freePort()];
  const give = async (path: string): Promise<void> => {
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  };
  const putFile = async (name: string, content: string | Buffer): Promise<string> => {
    const path = join(home.path, name);
    await writeFile(path, content, { mode: 0o600 });
    await give(path);
    return path;
  };
  const flagsOf = (given: Readonly<Record<string, string | number>>): readonly string[] =>
    Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | undefined;
  let flags: readonly string[] = [];

  const query: PostgresServer["query"] = async (uri, text, values = []) => {
    const client = new Client({ connectionString: uri });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const uriOf = (database: string, options = ""): string =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}${options}`;
  const start = async (): Promise<void> => {
    const errors = openSync(log, "a");
    const started = spawn(join(programs, "postgres"), ["-D", data, ...flags], {
      cwd: home.path,
      env: {},
      stdio: ["ignore", errors, errors],
      ...owner,
    });
    closeSync(errors);
    child = started;
    killAtExit(started, { signal: "SIGQUIT" });
    await eventually(
      async () => {
        if (!isRunningChild(started)) return "ended";
        await query(uriOf("postgres"), "SELECT 1");
        return "ready";
      },
      { what: "PostgreSQL to be ready" },
    );
    if (!isRunningChild(started)) throw new Error(`PostgreSQL ended: ${await readFile(log, "utf8")}`);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    if (ending === undefined || !isRunningChild(ending)) return;
    ending.kill(signal);
    await eventually(() => !isRunningChild(ending), { what: "PostgreSQL to end" });
  };
  const close = async (): Promise<void> => {
    await end("SIGQUIT");
    await home.remove();
  };

  try {
    await give(home.path);
    const passwordFile = await putFile("password", password);
    const init = ["-D", data, "-U", user, `--pwfile=${passwordFile}`, "--auth=scram-sha-256", "--encoding=UTF8"];
    await promisify(execFile)(join(programs, "initdb"), [...init, "--locale=C", "--no-sync", "--no-instructions"], {
      cwd: home.path,
      env: { PATH: programs },
      ...owner,
    });
    const files =
      tls === undefined
        ? {}
        : {
            ssl: "on",
            ssl_cert_file: await putFile("cert.pem", tls.cert),
            ssl_key_file: await putFile("key.pem", tls.key),
          };
    const place = { port, listen_addresses: "127.0.0.1", unix_socket_directories: home.path };
    flags = flagsOf({ ...place, fsync: "off", ...files, ...settings });
    await start();
  } catch (err) {
    await close();
    throw err;
  }
  let databases = 0;
  return {
    port,
    directory: home.path,
    password,
    newDatabase: async (options) => {
      databases += 1;
      const name = `history${databases}`;
      await query(uriOf("postgres"), `CREATE DATABASE ${name}`);
      return uriOf(name, options);
    },
    query,
    stop: () => end("SIGINT"),
    crash: () => end("SIGQUIT"),
    start,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The user of Debian's package, or the one who owns nothing. */
async function otherUser(): Promise<{ readonly uid: number; readonly gid: number }> {
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const [, , uid, gid] = lines.find(([name]) => name === "postgres") ?? lines.find(([name]) => name === "nobody") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}
