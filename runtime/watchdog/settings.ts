import { parseArgs } from "node:util";

import { flagName, readSettings } from "../settings/read-settings.ts";
import { choice, duration, flag, optionalText, port, text, whole, type Values } from "../settings/setting.ts";

/** Settings that the function's deployer makes through envVars; an image sets the same names. */
export const functionSettings = {
  process: optionalText("fprocess", { about: "Process that serves the function, split by shell-words rules" }),
  mode: choice("mode", ["process", "streaming", "serializing", "http"], {
    fallback: "process",
    about:
      "process: one process per request, body on stdin, stdout is the reply; streaming and serializing are other names for it; http: one long-running HTTP server",
  }),
  upstreamUrl: optionalText("upstream_url", {
    about:
      "Where the process of mode http listens; without it, or with port 0, a free port that the process finds in $PORT",
  }),
  bufferBody: flag("http_buffer_req_body", {
    fallback: "false",
    about: "Whether bodies in transfer chunks, of 32 MiB at most, reach the process of mode http with a length",
  }),
  execTimeout: duration("exec_timeout", { fallback: "0s", about: "Longest one request may take; 0 = no limit" }),
  maxInflight: whole("max_inflight", {
    fallback: "0",
    about: "Requests at the same time, others are answered 429; 0 = no limit",
  }),
  healthPath: text("health_path", { fallback: "/_/health", about: "Path of the health probe" }),
  readyPath: text("ready_path", { fallback: "/_/ready", about: "Path of the readiness probe" }),
  contentType: optionalText("content_type", { about: "Content-Type of responses in mode process" }),
  writeTimeout: duration("write_timeout", {
    fallback: "30s",
    about: "Longest that requests in flight are waited for when stopping",
  }),
};

/** Settings of the party that runs the watchdog; a flag wins over the environment. */
export const placeSettings = {
  host: text("host", { fallback: "0.0.0.0", about: "Address to listen on" }),
  port: port("port", { fallback: "8080", about: "Port to listen on; 0 = any free one" }),
  listenSocket: optionalText("listen_socket", {
    about: "Path of a Unix socket to listen on in place of the port; made before run_as, and for who may reach it",
  }),
  execPrefix: optionalText("exec_prefix", {
    about: "Words to put before the function's own command, separated by spaces",
  }),
  runFolder: optionalText("run_folder", { about: "What {folder} stands for in the function's process" }),
  runAs: optionalText("run_as", { about: "uid:gid to switch to before any request is read; needs root" }),
};

/** The environment the watchdog was started with; in a container it is the function's own. */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** What a watchdog is started with. */
export interface WatchdogStart {
  readonly place: Values<typeof placeSettings>;
  readonly settings: Values<typeof functionSettings>;
  /** Environment of the function. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Reads flags and environment. The function's environment is `given`, or else the watchdog's own.
 * @throws SettingsError with every problem at once
 */
export async function readWatchdog(
  given: Promise<Readonly<Record<string, string>>> | undefined,
): Promise<WatchdogStart> {
  const options = Object.fromEntries(
    Object.values({ ...placeSettings, ...functionSettings }).map(
      ({ name }) => [flagName(name), { type: "string" }] as const,
    ),
  );
  const flags = parseArgs({ options }).values;
  const own = ownEnvironment();
  const place = readSettings(placeSettings, { flags, environment: own });
  const environment = withoutPort((await given) ?? definedIn(own), place.port);
  return { place, environment, settings: readSettings(functionSettings, { flags, environment }) };
}

/** In a container, `PORT` is where the watchdog listens; the function must have another one. */
function withoutPort(environment: Readonly<Record<string, string>>, own: number): Readonly<Record<string, string>> {
  const { PORT: told, ...others } = environment;
  return Number(told) === own ? others : environment;
}

function definedIn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
