import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";

import { PlatformError } from "../../api/platform-error.ts";
import { ConsoleIssuer } from "../../api/schemas/iam/session.ts";
import type { Principal } from "../../core/access/principal.ts";
import { cookieValues, endCookie, endOthers, setCookie } from "../access/sessions/session-cookies.ts";
import { formType, type FormBody } from "../rest/form-body.ts";
import { route, type RouteEntry } from "../rest/route.ts";
import type { ConsoleAccess } from "./console-parts.ts";
import { consoleRequest } from "./console-request.ts";
import { callbackPath, type IssuerLogin } from "./login/issuer-login.ts";
import { endsBy } from "./login/logout-token.ts";
import { loginSeconds } from "./login/login-state.ts";
import { observeSignIn } from "./observe-sign-in.ts";
import { replaceSession, sendSession } from "./session-routes.ts";

const LoginQuery = Type.Object({
  issuer: Type.Optional(Type.String({ description: "Name of the JwtIssuer; absent = the first by name" })),
  to: Type.Optional(Type.String({ description: "Path below /ui/ to go to afterwards" })),
});

/** Where issuers say that they ended a session. */
export const backChannelPath = "/auth/backchannel-logout";

const LogoutRequest = Type.Object({ logout_token: Type.String({ description: "The issuer's logout token" }) });

/** The issuers that {@link loginRoutes} lead to, for a page that nobody has signed in on yet. */
export function issuersRoute(login: IssuerLogin | undefined): RouteEntry {
  return route(
    {
      id: "listConsoleIssuers",
      group: "identity",
      method: "GET",
      path: "/auth/issuers",
      needs: "nothing",
      about: "Lists the issuers that people can sign in at, the default one first.",
      responses: [{ status: 200, about: "The issuers", schema: Type.Array(ConsoleIssuer) }],
      documented: false,
    },
    () =>
      async ({ reply }) => {
        reply.header("Cache-Control", "no-store");
        return [...(login?.offered() ?? [])];
      },
  );
}

/** Sign-in at an issuer (`iam.md` §5). */
export function loginRoutes(access: ConsoleAccess, login: IssuerLogin): readonly RouteEntry[] {
  const begin = route(
    {
      id: "beginLogin",
      group: "identity",
      method: "GET",
      path: "/auth/login",
      needs: "nothing",
      about: "Leads to an issuer to sign in at.",
      query: LoginQuery,
      responses: [{ status: 303, about: "The page of the issuer" }],
      head: false,
      documented: false,
    },
    () =>
      async ({ query, request, reply }) => {
        const { origin, names } = consoleRequest(request, access.origins());
        const { location, kept } = await login.begin(query.issuer, query.to, origin.origin);
        reply
          .header("Set-Cookie", setCookie(names.login, kept, loginSeconds, "Lax"))
          .header("Cache-Control", "no-store")
          .header("Location", location);
      },
  );
  const finish = route(
    {
      id: "finishLogin",
      group: "identity",
      method: "GET",
      path: callbackPath,
      needs: "nothing",
      about: "Opens a session for who comes back from an issuer.",
      responses: [{ status: 303, about: "The page that was asked for" }],
      head: false,
      documented: false,
    },
    () =>
      ({ request, reply }) =>
        observeSignIn(request, "finishLogin", access.observer, () => finishLogin(request, reply, access, login)),
  );
  const logout = route(
    {
      id: "backChannelLogout",
      group: "identity",
      method: "POST",
      path: backChannelPath,
      needs: "nothing",
      about: "Ends sessions that their issuer ended (OpenID Connect Back-Channel Logout 1.0).",
      body: LogoutRequest,
      bodyType: formType,
      responses: [{ status: 200, about: "None of them goes on" }],
      documented: false,
    },
    () =>
      ({ request, reply }) => {
        reply.header("Cache-Control", "no-store");
        return observeSignIn(request, "backChannelLogout", access.observer, () =>
          endByIssuer(request.body as FormBody, access, login),
        );
      },
  );
  return [begin, finish, logout];
}

async function endByIssuer(
  form: FormBody,
  { sessions, holders }: ConsoleAccess,
  login: IssuerLogin,
): Promise<{ readonly principal: Principal | undefined; readonly status: number }> {
  const [token = "", ...others] = (form.kind === "form" ? form.fields.get("logout_token") : undefined) ?? [];
  if (token === "" || others.length > 0) {
    throw new PlatformError("validation_failed", "Cannot sign out: expected a form with one logout_token");
  }
  const order = await login.readLogout(token);
  const [first] = await sessions.endAll(({ session }) => endsBy(session, order));
  return { principal: first && holders.holderOf(first.session, ""), status: 200 };
}

async function finishLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  access: ConsoleAccess,
  login: IssuerLogin,
): Promise<{ readonly principal: Principal | undefined; readonly status: number }> {
  const from = consoleRequest(request, access.origins());
  const [kept, ...others] = cookieValues(request.headers.cookie, from.names.login);
  const { login: name } = from.names;
  reply
    .header("Cache-Control", "no-store")
    .header("Set-Cookie", [endCookie(name), ...(others.length > 0 ? endOthers(name, request.originalUrl) : [])]);
  if (kept === undefined || others.length > 0) {
    throw new PlatformError("validation_failed", "Cannot sign in: this browser did not begin to");
  }
  const { facts, refreshToken, to } = await login.finish(new URL(request.originalUrl, from.origin.origin), kept);
  const opened = await replaceSession(from, facts, access, { refreshToken });
  sendSession(reply, from, opened);
  // The page takes it from there; no server sees what follows the mark.
  reply.header("Location", `${to}#session=${opened.session.publicHalf}`);
  return { principal: access.holders.holderOf(opened.session, opened.secret), status: 303 };
}
