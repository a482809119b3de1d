import type { processSettings } from "../settings/platform-settings.ts";
import { flagsOf } from "../settings/read-settings.ts";
import type { SettingRule } from "../settings/setting-rules.ts";
import type { Settings, Values } from "../settings/setting.ts";
import { openAdminServer, type AdminServer } from "./admin-server.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { createLog, type Log } from "./log.ts";
import { readStart } from "./read-start.ts";
import { runService } from "./run-service.ts";

type ProcessSettings = Settings & typeof processSettings;

/** The description of a process, and its settings. */
export interface ProcessDescription<S extends ProcessSettings> {
  /** Also the name of its log. */
  readonly name: string;
  readonly about: string;
  readonly version: string;
  readonly settings: S;
  readonly rules: readonly SettingRule<Values<S>>[];
}

/** A process whose settings have been read. */
export interface StartedProcess<V> {
  readonly settings: V;
  readonly log: Log;
  /** Runs the process as `runService` does, with an admin server. */
  readonly run: (service: Service) => Promise<void>;
}

/** What a process does between its start and its stop. */
export interface Service {
  /** Milliseconds the whole close may take. */
  readonly drainTimeout: number;
  /** Opens everything but the admin server; the process is ready when it resolves. */
  readonly open: (parts: ServiceParts) => Promise<Serving | void>;
}

/** What a service is opened with. */
export interface ServiceParts {
  readonly lifecycle: Lifecycle;
  readonly admin: AdminServer;
  readonly log: Log;
  /** Aborts when the stop begins. */
  readonly stop: AbortSignal;
}

/** Facts about a running service. */
export interface Serving {
  /** Logged, with the port of the admin server. */
  readonly facts?: object;
  /** Awaited during the stop, between becoming unready and the first close. */
  readonly drain?: () => Promise<void>;
}

/**
 * Reads the command line and the settings, as `readStart` does, and opens the log. The admin server of `run` opens first and
 * closes last, so that probes are served from the start to the end.
 */
export function start<S extends ProcessSettings>(description: ProcessDescription<S>): StartedProcess<Values<S>> {
  const { name, about, version, settings: table, rules } = description;
  const line = { name, about, version, flags: flagsOf(table) };
  const reading = { line, settings: table, rules, sharedFile: true };
  const { settings, warnings } = readStart(reading, process.argv.slice(2));
  const { adminHost, adminPort, allowedHosts, headersTimeout, logLevel }: Values<typeof processSettings> = settings;
  const log = createLog(name, logLevel);
  for (const warning of warnings) log.warn(warning);

  const open = async (service: Service, lifecycle: Lifecycle, stop: AbortSignal): Promise<void> => {
    const admin = await openAdminServer({ host: adminHost, port: adminPort, allowedHosts, headersTimeout });
    lifecycle.onClose("admin server", () => admin.close());
    const serving = await service.open({ lifecycle, admin, log, stop });
    admin.ready();
    lifecycle.onClose("readiness", () => {
      admin.drain();
      return serving?.drain?.();
    });
    log.info({ ...serving?.facts, adminPort: admin.port }, `${name} is ready`);
  };
  const run = (service: Service): Promise<void> =>
    runService({
      log,
      drainTimeout: () => service.drainTimeout,
      open: (lifecycle, stop) => open(service, lifecycle, stop),
    });
  return { settings, log, run };
}
