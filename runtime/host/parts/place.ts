import { lastingPort, portRanges, tryPort } from "../../adapters/nats/server/free-port.ts";
import { openAdminServer, type AdminServer } from "../../process/admin-server.ts";
import { ownUrl } from "../addresses.ts";
import { openCredentials } from "../credentials.ts";
import { openDataDirectory, type DataLayout } from "../data-directory.ts";
import type { HostStart } from "./host-start.ts";
import { busyPort, type PortFlag } from "../report-failure.ts";
import { followPreviousKeys } from "../signing-keys.ts";

/** Ports, addresses and data directory of a host on its machine. */
export interface HostPlace {
  readonly port: number;
  /** The gateway's, for clients on this machine. */
  readonly url: string;
  readonly adminUrl: string;
  readonly admin: AdminServer;
  readonly layout: DataLayout;
  /** Name of the administrator. */
  readonly user: string;
}

/** Finds the ports, locks the data directory for this process, and serves probes from now on. */
export async function openPlace({ settings, lifecycle, log }: HostStart): Promise<HostPlace> {
  const port = await freePort(settings.port, "port");
  const adminPort = await freePort(settings.adminPort, "admin-port");
  if (settings.consolePort !== 0) await freePort(settings.consolePort, "console-port");
  const data = await openDataDirectory(settings.data);
  lifecycle.onClose("data directory", () => data.close());
  lifecycle.onEndNow("data directory", () => data.close());
  const { layout } = data;
  const { user } = await openCredentials(layout.credentials, Date.now(), (file) =>
    log.warn({ file }, "a credential file was empty, as after a power cut; a new one was generated"),
  );
  const previousKeys = followPreviousKeys(layout.credentials, {
    onError: (err) => log.warn({ err }, "cannot drop a previous key"),
  });
  lifecycle.onClose("previous keys", () => previousKeys.close());

  const admin = await openAdminServer({
    host: "127.0.0.1",
    port: adminPort,
    allowedHosts: settings.allowedHosts,
    headersTimeout: settings.headersTimeout,
  });
  lifecycle.onClose("admin server", () => admin.close());
  return { port, url: ownUrl(settings, port), adminUrl: `http://127.0.0.1:${adminPort}`, admin, layout, user };
}

async function freePort(wanted: number, flag: PortFlag): Promise<number> {
  const range = flag === "port" ? portRanges.gateway : portRanges.admin;
  // The gateway listens only seconds later: a port that the system chose for 0 may be in use by then.
  const port = await (wanted === 0 ? lastingPort(range) : tryPort(wanted));
  if (port === undefined) throw new Error(busyPort(wanted, flag));
  return port;
}
