import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Type } from "typebox";
import { Parse } from "typebox/value";

import { findNatsServer } from "../../runtime/adapters/nats/server/find-nats-server.ts";
import { NatsServerProcess, type NatsAccess } from "../../runtime/adapters/nats/server/nats-server-process.ts";
import { natsUser, natsUsers, type NatsUser } from "../../runtime/api/broker/nats-users.ts";
import { dataLayout, openDataDirectory, type DataDirectory } from "../../runtime/host/data-directory.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { environment } from "../../runtime/process/settings.ts";

/** Access to the broker of one machine, until it is closed. */
export interface MachineBroker extends AsyncDisposable {
  readonly access: NatsAccess;
}

const payloadLimit = 1_048_576;

/** The broker of the data directory at `path`: the running one, or one that is started until this is closed. */
export async function openMachineBroker(path: string, say: (line: string) => void): Promise<MachineBroker> {
  const { root, nats } = dataLayout(path);
  if (!existsSync(nats)) throw new Error(`Cannot back up "${path}": no Weir has run there`);
  const lock = await holdLock(join(root, "lock"));
  if ("heldBy" in lock) return { access: await runningAccess(nats), [Symbol.asyncDispose]: async () => {} };
  await lock.release();
  return startMachineBroker(path, say);
}

/**
 * Starts the broker of a data directory, which may be new, without the rest of the platform.
 * @throws PlatformError when Weir runs there
 */
export async function startMachineBroker(path: string, say: (line: string) => void): Promise<MachineBroker> {
  const data = await openDataDirectory(path);
  try {
    const server = await startServer(data, say);
    return {
      access: server.access(natsUser.doctor),
      [Symbol.asyncDispose]: async () => {
        await server.close();
        await server.sync();
        await data.close();
      },
    };
  } catch (err) {
    await data.close();
    throw err;
  }
}

const Configuration = Type.Object({
  listen: Type.String(),
  authorization: Type.Object({ users: Type.Array(Type.Object({ user: Type.String(), password: Type.String() })) }),
});

/** Access to the running server, from its configuration. */
async function runningAccess(directory: string): Promise<NatsAccess> {
  const content: unknown = JSON.parse(await readFile(join(directory, "nats-server.json"), "utf8"));
  const { listen, authorization } = Parse(Configuration, content);
  const { name, inboxPrefix } = doctor();
  const password = authorization.users.find(({ user }) => user === name)?.password ?? "";
  return { url: `nats://${listen}`, user: name, password, inboxPrefix };
}

/** The user with sufficient rights: it may create and delete streams. */
export function doctor(): NatsUser {
  const found = natsUsers({ queues: [], oneMachine: true }).find(({ name }) => name === natsUser.doctor);
  if (found === undefined) throw new Error("the broker has no user for the queue-doctor");
  return found;
}

async function startServer(data: DataDirectory, say: (line: string) => void): Promise<NatsServerProcess> {
  const server = await NatsServerProcess.open({
    binary: await findNatsServer({ environment: environment(), say }),
    directory: data.layout.nats,
    setAside: data.layout.setAside,
    ports: { port: 0, monitorPort: 0 },
    durability: "interval",
    payloadLimit,
    users: natsUsers({ queues: [], oneMachine: true }),
    onEvent: (event) =>
      say(`nats-server: ${"stream" in event ? `${event.kind} ${event.stream}: ${event.reason}` : event.kind}`),
  });
  process.once("exit", () => server.pid !== undefined && process.kill(server.pid, "SIGTERM"));
  return server;
}
