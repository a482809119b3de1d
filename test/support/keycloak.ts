import { spawn, type ChildProcess } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import type { KeycloakDistribution } from "./keycloak-distribution.ts";
import {
  commandClient,
  keycloakPassword,
  keycloakRealm,
  realmDocument,
  type KeycloakPerson,
} from "./keycloak-realm.ts";
import { isRunningChild, killAtExit } from "./kill-at-exit.ts";
import { machineLock } from "./machine-lock.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Keycloak on a real port of 127.0.0.1, in development mode, with the realm of the tests. */
export interface Keycloak extends AsyncDisposable {
  /** `iss` of the realm. */
  readonly issuer: string;
  /** An id token of a person, for their password. */
  idToken(person: KeycloakPerson): Promise<string>;
  /** Asks the realm's administration; rejects unless it replies with success. */
  admin(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Ids of the sessions that a person has with a client. */
  sessionsOf(person: KeycloakPerson, client: string): Promise<readonly string[]>;
}

/** Times in milliseconds. */
export interface KeycloakOptions {
  /** Name of the lock that one Keycloak of this machine holds at a time. */
  readonly lock?: string;
  /** It makes its program anew at each start in development mode: 30 s, and as long again to start it. */
  readonly startTimeout?: number;
  readonly stopTimeout?: number;
}

const administrator = "admin";

/**
 * Starts one, and no other on this machine until it ends, with its data in memory, and resolves when its realm is there.
 * @throws Error with its output when it ends, or does not serve in time
 */
export async function startKeycloak(
  { directory, java }: KeycloakDistribution,
  { lock: lockName = "keycloak", startTimeout = 400_000, stopTimeout = 60_000 }: KeycloakOptions = {},
): Promise<Keycloak> {
  await using opening = new AsyncDisposableStack();
  // A start keeps both cores of a machine busy for a minute.
  const lock = await machineLock(lockName);
  opening.defer(() => lock.release());
  const home = opening.use(await tempDirectory("keycloak"));
  await makeHome(home.path, directory);
  const [port, managementPort] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${port}`;
  const issuer = `${base}/realms/${keycloakRealm}`;
  const ports = ["--http-host=127.0.0.1", `--http-port=${port}`, `--http-management-port=${managementPort}`];
  const args = [join(home.path, "bin", "kc.sh"), "start-dev", "--db=dev-mem", "--import-realm", ...ports];
  const child = spawn("sh", args, {
    cwd: home.path,
    env: {
      PATH: environment()["PATH"],
      HOME: home.path,
      JAVA: java,
      JAVA_OPTS_APPEND: `-XX:-UsePerfData -Djava.io.tmpdir=${join(home.path, "tmp")}`,
      KC_BOOTSTRAP_ADMIN_USERNAME: administrator,
      KC_BOOTSTRAP_ADMIN_PASSWORD: keycloakPassword,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // Its first process may have a child: both are of its group.
    detached: true,
  });
  killAtExit(child, { group: true });
  opening.defer(() => endGroup(child, stopTimeout));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  try {
    const description = `${issuer}/.well-known/openid-configuration`;
    const serves = await eventually(
      async () => !isRunningChild(child) || ((await statusOf(description)) === 200 && "serves"),
      { what: "Keycloak to serve", within: startTimeout, every: 500 },
    );
    if (serves !== "serves") throw new Error("it ended");
  } catch (cause) {
    throw new Error(`Cannot start Keycloak: ${String(cause)}\n${output}`, { cause });
  }
  const tokenOf = (realm: string, form: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> =>
    passwordGrant(`${base}/realms/${realm}/protocol/openid-connect/token`, form);
  const admin: Keycloak["admin"] = async (method, path, body) => {
    const form = { client_id: "admin-cli", username: administrator, password: keycloakPassword };
    const { access_token: token } = await tokenOf("master", form);
    const reply = await fetch(`${base}/admin/realms/${keycloakRealm}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`Keycloak replied ${reply.status} to ${method} ${path}: ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const opened = opening.move();
  return {
    issuer,
    admin,
    async idToken(username) {
      const form = { client_id: commandClient, scope: "openid", username, password: keycloakPassword };
      return (await tokenOf(keycloakRealm, form))["id_token"] ?? "";
    },
    async sessionsOf(person, client) {
      const [user] = (await admin("GET", `/users?username=${person}&exact=true`)) as { readonly id: string }[];
      const all = (await admin("GET", `/users/${user?.id}/sessions`)) as KeycloakSession[];
      return all.filter(({ clients }) => Object.values(clients).includes(client)).map(({ id }) => id);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Ends a process and its group.
 * @throws Error when SIGTERM did not end it, and SIGKILL did
 */
async function endGroup(child: ChildProcess, within: number): Promise<void> {
  const ended = () => !isRunningChild(child);
  if (ended() || child.pid === undefined) return;
  process.kill(-child.pid, "SIGTERM");
  try {
    await eventually(ended, { what: "Keycloak to end", within });
  } catch (err) {
    process.kill(-child.pid, "SIGKILL");
    await eventually(ended, { what: "Keycloak to be killed" });
    throw err;
  }
}

interface KeycloakSession {
  readonly id: string;
  /** Names of clients, by their ids. */
  readonly clients: Readonly<Record<string, string>>;
}

/** A directory that Keycloak may write to: what it never writes are links to the unpacked one. */
async function makeHome(home: string, distribution: string): Promise<void> {
  for (const name of ["bin", "conf", "providers", "themes", "lib/quarkus", "lib/quarkus-run.jar"])
    await cp(join(distribution, name), join(home, name), { recursive: true });
  for (const name of ["lib/lib", "lib/app"]) await symlink(join(distribution, name), join(home, name));
  for (const name of ["tmp", "data/import"]) await mkdir(join(home, name), { recursive: true });
  await writeFile(join(home, "data", "import", `${keycloakRealm}.json`), JSON.stringify(realmDocument()));
}

async function statusOf(url: string): Promise<number> {
  const reply = await fetch(url);
  await reply.body?.cancel();
  return reply.status;
}

async function passwordGrant(
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const reply = await fetch(url, { method: "POST", body: new URLSearchParams({ grant_type: "password", ...form }) });
  if (!reply.ok) throw new Error(`Keycloak gave no token: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as Readonly<Record<string, string>>;
}
