import { lastingPort, portRanges, tryPort } from "../../adapters/nats/server/free-port.ts";
import { openAdminServer, type AdminServer } from "../../process/admin-server.ts";
import { ownUrl } from "../addresses.ts";
import { openCredentials } from "../credentials.ts";
import { openDataDirectory, type DataLayout } from "../data-directory.ts";
import type { HostStart } from "./host-start.ts";
import { busyPort } from "../report-failure.ts";

/** Where a host is on its machine. */
export interface HostPlace {
  readonly port: number;
  /** The gateway's, for those on this machine. */
  readonly url: string;
  readonly adminUrl: string;
  readonly admin: AdminServer;
  readonly layout: DataLayout;
  /** Name of the administrator. */
  readonly user: string;
}

/** Takes the ports and the data directory for this process, and answers probes from now on. */
export async function openPlace({ settings, lifecycle }: HostStart): Promise<HostPlace> {
  const port = await freePort(settings.port, "port");
  const adminPort = await freePort(settings.adminPort, "admin-port");
  const data = await openDataDirectory(settings.data);
  lifecycle.onClose("data directory", () => data.close());
  lifecycle.onEndNow("data directory", () => data.close());
  const { layout } = data;
  const { user } = await openCredentials(layout.credentials);

  const admin = await openAdminServer({ host: "127.0.0.1", port: adminPort });
  lifecycle.onClose("admin server", () => admin.close());
  return { port, url: ownUrl(settings, port), adminUrl: `http://127.0.0.1:${adminPort}`, admin, layout, user };
}

async function freePort(wanted: number, flag: "port" | "admin-port"): Promise<number> {
  const range = flag === "port" ? portRanges.gateway : portRanges.admin;
  // Seconds pass before the gateway listens: what the system gives for 0 may be another's by then.
  const port = await (wanted === 0 ? lastingPort(range) : tryPort(wanted));
  if (port === undefined) throw new Error(busyPort(wanted, flag));
  return port;
}
