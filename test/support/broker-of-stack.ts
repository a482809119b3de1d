import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { promisify } from "node:util";

import type { WeirStack } from "./weir-stack.ts";

const commands = join(import.meta.dirname, "..", "..", "scripts", "backup");
/** As the processes that use the broker are labelled. */
const users = ["gateway", "queue-worker", "queue-doctor", "autoscaler"];

/** Host and port of a stack's broker, as this machine reaches it. */
export interface NatsPlace {
  readonly host: string;
  readonly port: number;
}

/** Where the broker of a stack is. */
export async function natsOf(stack: WeirStack): Promise<NatsPlace> {
  const host = await stack.kubectl("get", "service", "nats", "--output=jsonpath={.spec.clusterIP}");
  return { host, port: 4222 };
}

/** The values of the Secrets with the key of the store, and with the password between servers. */
export async function brokerSecrets(stack: WeirStack): Promise<readonly string[]> {
  return Promise.all(["nats-store", "nats-routes"].map((name) => secretFile(stack, name, "nats.conf")));
}

/** Sets the replicas of who uses the broker, or of some of them; resolves when pods that are too many are gone. */
export async function scaleUsersOfTheBroker(
  stack: WeirStack,
  replicas: number,
  ...only: readonly string[]
): Promise<void> {
  const names = only.length === 0 ? users : only;
  const selector = `app.kubernetes.io/name in (${names.join(",")})`;
  await stack.kubectl("scale", "deployment", ...names, `--replicas=${replicas}`);
  if (replicas === 0) await stack.kubectl("wait", "pod", "-l", selector, "--for=delete", "--timeout=120s");
}

/** Runs the backup's or the restore's command as the page about operation says, with files in `directory`. */
export async function brokerCommand(
  stack: WeirStack,
  directory: string,
  main: string,
  ...args: readonly string[]
): Promise<void> {
  const { host, port } = await natsOf(stack);
  const [password, authority] = [join(directory, "doctor.password"), join(directory, "ca.crt")];
  await writeFile(password, await secretFile(stack, "nats-queue-doctor", "password"), { mode: 0o600 });
  await writeFile(authority, await secretFile(stack, "nats-tls", "ca.crt"));
  const broker = [`--nats-url=tls://${host}:${port}`, "--nats-user=doctor", `--nats-password-file=${password}`];
  const tls = [`--nats-ca-file=${authority}`, `--nats-tls-name=nats.${stack.namespace}`];
  await promisify(execFile)(process.execPath, [join(commands, main), ...broker, ...tls, ...args]);
}

/** Serial number of the certificate that the broker shows; it speaks first in the clear, as NATS does. */
export async function shownCertificate({ host, port }: NatsPlace): Promise<string> {
  const socket = connect({ host, port });
  try {
    await once(socket, "data");
    // Who signed it is not of interest here.
    const secured: TLSSocket = connectTls({ socket, rejectUnauthorized: false });
    await once(secured, "secureConnect");
    return secured.getPeerX509Certificate()?.serialNumber ?? "";
  } finally {
    socket.destroy();
  }
}

async function secretFile(stack: WeirStack, name: string, file: string): Promise<string> {
  const path = `--output=jsonpath={.data.${file.replaceAll(".", "\\.")}}`;
  return Buffer.from(await stack.kubectl("get", "secret", name, path), "base64").toString("utf8");
}
