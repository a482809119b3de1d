import { FileSecretStore } from "../files/file-secret-store.ts";
import type { NatsLink } from "../nats/link/nats-link.ts";
import { machineHome } from "../nats/open-nats.ts";
import { LocalLogSource } from "./local/logs/local-log-source.ts";

/** The adapters of a gateway on one machine that runs beside the provider, and not in its process. */
export function gatewayMachine(
  link: NatsLink,
  { secretsDir, logsDir }: { readonly secretsDir: string; readonly logsDir: string },
) {
  return { ...machineHome(link), secrets: new FileSecretStore(secretsDir), logs: new LocalLogSource(logsDir) };
}
