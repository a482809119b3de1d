import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { credentialFile } from "../../runtime/api/names.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openNatsServer, type TestNatsServer } from "../../test/support/nats-server.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startProcess, type BenchProcess } from "./bench-process.ts";

/** The processes that can be started with a broker of the bench. */
export type BrokerUser = "gateway" | "queue-worker" | "autoscaler";

/** A broker provisioned by the queue-doctor, for processes of the platform. */
export interface BenchBroker {
  readonly url: string;
  /** It knows no users. */
  readonly server: TestNatsServer;
  /** The bench's own connection, with all permissions. */
  readonly link: NatsLink;
  /** `Authorization` header of the gateways' administrator. */
  readonly authorization: string;
  /** Starts a process, on one core if given, and resolves once it is ready; it ends with the broker at the latest. */
  start(name: BrokerUser, flags?: readonly string[], core?: number): Promise<BenchProcess>;
  close(): Promise<void>;
}

const administrator = { user: "admin", password: "bench" } as const;

/** Starts a broker and a queue-doctor; each queue has `slots` slots. */
export async function openBenchBroker({ slots }: { readonly slots: number }): Promise<BenchBroker> {
  const opened = new AsyncDisposableStack();
  const close = (): Promise<void> => opened.disposeAsync();
  try {
    const nats = await openNatsServer();
    opened.defer(() => nats.close());
    const directory = await tempDirectory("bench");
    opened.defer(() => directory.remove());
    await writeFile(join(directory.path, credentialFile.user), administrator.user);
    await writeFile(join(directory.path, credentialFile.password), administrator.password);
    await writeFile(join(directory.path, credentialFile.callbackKey), makeSigningKey("callbacks"));
    const ownFlags: Readonly<Record<BrokerUser, readonly string[]>> = {
      gateway: ["--edition=pro", "--shutdown-delay=0s", `--secret-mount-path=${directory.path}`],
      "queue-worker": [`--secret-mount-path=${directory.path}`],
      autoscaler: [],
    };
    const run = async (name: string, flags: readonly string[], core?: number): Promise<BenchProcess> => {
      const common = ["--nats-url", nats.url, "--log-level", "error"];
      const started = await startProcess({ name, adminPort: await freePort(), flags: [...common, ...flags], core });
      opened.defer(() => started.stop());
      return started;
    };
    await run("queue-doctor", [
      "--edition=pro",
      "--one-machine=true",
      `--max-inflight=${slots}`,
      "--max-file-store=1073741824",
    ]);
    const link = await NatsLink.open({
      url: nats.url,
      name: "bench",
      user: undefined,
      password: undefined,
      inboxPrefix: "_INBOX.bench",
      pingInterval: 5_000,
    });
    opened.defer(() => link.close());
    const { user, password } = administrator;
    return {
      url: nats.url,
      server: nats,
      link,
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
      start: (name, flags = [], core) => run(name, [...ownFlags[name], ...flags], core),
      close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}
