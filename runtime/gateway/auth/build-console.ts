import { drainTimeoutOf } from "../../settings/drain-settings.ts";
import { unobserved } from "../access/access-observer.ts";
import { createAuthenticator } from "../access/authenticator.ts";
import { loopbackOrigins } from "../access/check-origin.ts";
import { SessionHolders } from "../access/sessions/session-holders.ts";
import { SessionTable } from "../access/sessions/session-table.ts";
import { createGatewayServer, type GatewayServerParts } from "../edge/http-server.ts";
import { tlsOf } from "../edge/tls-of.ts";
import type { ErrorContext, ErrorWriter } from "../error-handler.ts";
import type { IssuerDocuments } from "../../core/ports/issuer-documents.ts";
import type { SessionStore } from "../../core/ports/session-store.ts";
import { cancelRoutes, resultRoute } from "../console-port/calls/call-routes.ts";
import type { SessionCalls } from "../console-port/calls/session-calls.ts";
import { tryRoutes } from "../console-port/calls/try-routes.ts";
import { ConsoleFiles } from "../console-port/console-files.ts";
import { entryRoutes, fileRoute } from "../console-port/file-route.ts";
import type { AppParts } from "../rest/app-parts.ts";
import { buildApp } from "../rest/app.ts";
import { restRoutes } from "../rest/route-table.ts";
import type { GatewaySettings } from "../settings.ts";
import { consoleDoor, isFromBrowser } from "./console-door.ts";
import { consoleHeaders } from "./console-headers.ts";
import { consoleOrigins } from "./console-origins.ts";
import type { ConsoleAccess } from "./console-parts.ts";
import { IssuerLogin } from "./login/issuer-login.ts";
import { issuersRoute, loginRoutes } from "./login-routes.ts";
import { sessionRoutes } from "./session-routes.ts";

/** The parts of the listener on `console_port`. */
export interface ConsoleParts {
  readonly settings: GatewaySettings;
  /** Those of `port`. */
  readonly app: AppParts;
  readonly sessions: SessionStore;
  /** What issuers publish; absent where there are none. */
  readonly documents: IssuerDocuments | undefined;
  /** Makes calls for pages; absent: they can make none. */
  readonly calls?: SessionCalls | undefined;
  /** Those that were built; absent: where the build writes them. */
  readonly files?: ConsoleFiles | undefined;
  /** What both listeners refuse connections and heads by. */
  readonly server: Pick<GatewayServerParts, "onMalformed" | "onTooManyConnections" | "isTrustedProxy">;
}

/** The listener on `console_port`, for people with browsers. */
export interface BuiltConsole {
  /** Follows sessions, then listens; resolves with the port. 0 = any free one. */
  open(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** From now on every reply closes its connection; requests are still served. */
  drain(): void;
  close(): Promise<void>;
}

/** Routes of `port` that the console has, too. */
const sharedPaths: ReadonlySet<string> = new Set(["/healthz", "/openapi.json"]);

/** Assembles it; before `open` it does not listen. */
export function buildConsole({
  settings,
  app: parts,
  sessions: store,
  documents,
  calls,
  files = new ConsoleFiles(),
  server: edge,
}: ConsoleParts): BuiltConsole {
  const { log, tokens, auth, observer = unobserved } = parts;
  const directory = settings.secretMountPath;
  const sessions = parts.sessions ?? new SessionTable({ store, log });
  let origins = consoleOrigins(settings.consoleOrigins);
  const access: ConsoleAccess = {
    origins: () => origins,
    sessions,
    holders: new SessionHolders({ credentials: auth.credentials, rules: tokens?.rules }),
    authenticator: createAuthenticator(auth, tokens?.holders),
    auth,
    login:
      tokens === undefined || documents === undefined
        ? undefined
        : new IssuerLogin({ tokens, documents, directory, log }),
    observer,
  };
  const { login } = access;
  if (login !== undefined) sessions.renewBy((session, refreshToken) => login.renew(session, refreshToken));
  const hostOf = (): string => new URL(parts.address()).host;
  const routes = [
    ...restRoutes(tokens !== undefined).filter(({ path }) => path.startsWith("/system/") || sharedPaths.has(path)),
    ...sessionRoutes(access, () => parts.address()),
    issuersRoute(access.login),
    ...(access.login === undefined ? [] : loginRoutes(access, access.login)),
    fileRoute(files),
    ...entryRoutes(),
    resultRoute,
    ...(calls === undefined ? [] : [...tryRoutes(calls, hostOf), ...cancelRoutes(calls, hostOf)]),
  ];
  const errors = consoleErrors(parts.errors);
  const server = createGatewayServer({
    ...edge,
    writeError: (exchange, err, context) => errors.writeError(exchange, err, context),
    routes: parts.routes,
    headersTimeout: settings.headersTimeout,
    bodyIdleTimeout: settings.bodyIdleTimeout,
    asyncBody: {},
    maxConnectionsPerClient: settings.maxConnectionsPerClient,
    drainTimeout: drainTimeoutOf(settings),
    cutCalls: () => {},
    ...tlsOf(settings),
  });
  const app = buildApp({ ...parts, errors, sessions }, server.serverFactory, consoleDoor(routes, access));
  app.addHook("onSend", async (request, reply) => {
    // Else the browser asks for a password by itself.
    if (reply.statusCode === 401 && isFromBrowser(request, access)) reply.removeHeader("WWW-Authenticate");
  });
  let unwatch = (): void => {};
  return {
    async open(address) {
      await app.ready();
      unwatch = sessions.watch();
      const port = await server.listen(address);
      if (settings.consoleOrigins.length === 0) {
        origins = consoleOrigins(loopbackOrigins(port, settings.tlsCert !== undefined));
      }
      return port;
    },
    drain: () => server.drain(),
    close: async () => {
      await app.close();
      await server.close();
      unwatch();
    },
  };
}

/** Errors also have the headers of the console. */
function consoleErrors(errors: ErrorWriter): ErrorWriter {
  const withHeaders = (context: ErrorContext = {}): ErrorContext => ({
    ...context,
    extra: { ...consoleHeaders, ...context.extra },
  });
  return {
    writeError: (exchange, err, context) => errors.writeError(exchange, err, withHeaders(context)),
    sendError: (request, reply, err, context) => errors.sendError(request, reply, err, withHeaders(context)),
  };
}
