import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { promisify } from "node:util";

import type { WeirStack } from "./weir-stack.ts";

const commands = join(import.meta.dirname, "..", "..", "scripts", "backup");
/** Labels of the processes that use the broker. */
const users = ["gateway", "queue-worker", "queue-doctor", "autoscaler", "history"];

/** Host and port at which this machine reaches a stack's broker. */
export interface NatsPlace {
  readonly host: string;
  readonly port: number;
}

/** The address of a stack's broker. */
export async function natsOf(stack: WeirStack): Promise<NatsPlace> {
  const host = await stack.kubectl("get", "service", "nats", "--output=jsonpath={.spec.clusterIP}");
  return { host, port: 4222 };
}

/** Contents of the Secrets that hold the key of the store and the password between servers. */
export async function brokerSecrets(stack: WeirStack): Promise<readonly string[]> {
  return Promise.all(["nats-store", "nats-routes"].map((name) => secretFile(stack, name, "nats.conf")));
}

/** Scales the users of the broker, or only those named; scaling to 0 waits until their pods are gone. */
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

/** Runs the backup or restore command as the operations page shows it, with its files in `directory`. */
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

/** Serial number of the broker's certificate. A NATS server sends unencrypted data before the TLS handshake. */
export async function shownCertificate({ host, port }: NatsPlace): Promise<string> {
  const socket = connect({ host, port });
  try {
    await once(socket, "data");
    // Its issuer does not matter here.
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
