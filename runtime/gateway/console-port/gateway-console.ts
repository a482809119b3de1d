import { SessionTable } from "../access/sessions/session-table.ts";
import { buildConsole, type BuiltConsole, type ConsoleParts } from "../auth/build-console.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import type { AppParts } from "../rest/app-parts.ts";
import { SessionCalls, type SessionCallsParts } from "./calls/session-calls.ts";
import { ConsoleFiles } from "./console-files.ts";
import { consoleOriginOf } from "./console-origin.ts";
import { warnNotBuilt } from "./warn-not-built.ts";

type PlatformParts = Pick<GatewayParts, "settings" | "sessions" | "access" | "log">;

/** Where who asks `port` for a host finds the console; undefined = this gateway has none. */
export function consoleLink({ settings, sessions }: PlatformParts): AppParts["consoleOf"] {
  if (settings.consolePort === 0 || sessions === undefined) return undefined;
  const place = { ...settings, isSecure: settings.tlsCert !== undefined };
  return (host) => consoleOriginOf(place, host);
}

/** Who is signed in with a browser; undefined where nobody can. */
export function consoleSessions({ settings, sessions: store, log }: PlatformParts): SessionTable | undefined {
  return settings.consolePort === 0 || store === undefined ? undefined : new SessionTable({ store, log });
}

/** The console of a gateway with these parts, which says at its start if it was not built; undefined = it has none. */
export function gatewayConsole(
  { settings, sessions, access }: PlatformParts,
  made: Pick<ConsoleParts, "app" | "server"> & { readonly calls: SessionCallsParts },
): BuiltConsole | undefined {
  if (settings.consolePort === 0 || sessions === undefined) return undefined;
  const { app, server } = made;
  const calls = new SessionCalls(made.calls);
  const files = new ConsoleFiles();
  const built = buildConsole({ settings, app, sessions, documents: access?.documents, calls, files, server });
  return {
    ...built,
    open: async (address) => {
      await warnNotBuilt(files, app.log);
      return built.open(address);
    },
  };
}
