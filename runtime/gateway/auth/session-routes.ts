import type { FastifyReply, FastifyRequest } from "fastify";

import { sessionHeader } from "../../api/names.ts";
import { NewSession, SessionInfo } from "../../api/schemas/iam/session.ts";
import type { Principal } from "../../core/access/principal.ts";
import { sessionLifetime } from "../../core/ports/session-store.ts";
import { digest as digestOf } from "../access/credential-files.ts";
import { endCookie, endOthers, setCookie } from "../access/sessions/session-cookies.ts";
import { credentialsDigest } from "../access/sessions/session-secret.ts";
import { readSession } from "../access/sessions/session-reader.ts";
import type { OpenedSession, SessionFacts, SessionSecrets } from "../access/sessions/session-table.ts";
import { route, type RouteEntry } from "../rest/route.ts";
import { allowedActions } from "./allowed-actions.ts";
import type { ConsoleAccess } from "./console-parts.ts";
import { consoleRequest, type ConsoleRequest } from "./console-request.ts";
import { observeSignIn } from "./observe-sign-in.ts";

const noBody = { status: 204, about: "Done" } as const;

/** Sessions of people (`iam.md` §8); `gateway` is the address of the gateway once it listens. */
export function sessionRoutes(access: ConsoleAccess, gateway: () => string): readonly RouteEntry[] {
  const signIn = route(
    {
      id: "signIn",
      group: "identity",
      method: "POST",
      path: "/auth/session",
      needs: "nothing",
      about: "Opens a session with the administrator's credentials.",
      body: NewSession,
      responses: [noBody],
      documented: false,
    },
    () =>
      ({ body, request, reply }) =>
        observeSignIn(request, "signIn", access.observer, () => signInWith(body, request, reply, access)),
  );
  const show = route(
    {
      id: "getSession",
      group: "identity",
      method: "GET",
      path: "/auth/session",
      needs: "credentials",
      about: "Says who is signed in, what they may do, and where the gateway is.",
      responses: [{ status: 200, about: "Who", schema: SessionInfo }],
      documented: false,
    },
    () =>
      async ({ principal, request, reply }) => {
        reply.header("Cache-Control", "no-store");
        return infoOf(principal, await viaOf(principal, request, access), gateway());
      },
  );
  const signOut = route(
    {
      id: "signOut",
      group: "identity",
      method: "POST",
      path: "/auth/logout",
      needs: "nothing",
      about: "Ends the session, also at its issuer.",
      responses: [noBody],
      documented: false,
    },
    () =>
      ({ request, reply }) =>
        observeSignIn(request, "signOut", access.observer, () => signOutOf(request, reply, access)),
  );
  return [signIn, show, signOut];
}

/** Sends the cookie of a session, and what its page sends along; ends what other pages set under its name. */
export function sendSession(reply: FastifyReply, { names }: ConsoleRequest, { secret, session }: OpenedSession): void {
  const others = endOthers(names.session, reply.request.originalUrl);
  reply
    .header("Set-Cookie", [...others, setCookie(names.session, secret, sessionLifetime / 1_000)])
    .header(sessionHeader, session.publicHalf)
    .header("Cache-Control", "no-store");
}

/** Opens a session instead of those that the browser has, as far as one request ends them. */
export async function replaceSession(
  { proof }: ConsoleRequest,
  facts: SessionFacts,
  { sessions }: ConsoleAccess,
  secrets: SessionSecrets = {},
): Promise<OpenedSession> {
  const opened = await sessions.open(facts, secrets);
  for (const secret of sessions.endable(proof.cookies)) await sessions.end(secret);
  return opened;
}

async function signInWith(
  { user, password }: NewSession,
  request: FastifyRequest,
  reply: FastifyReply,
  access: ConsoleAccess,
): Promise<{ readonly principal: Principal | undefined; readonly status: number }> {
  const { auth, holders } = access;
  const { address } = request.access;
  auth.checkPassword({ user, password }, address);
  // With `basic_auth=false` everybody is the administrator without a session.
  if (auth.credentials === undefined) return { principal: undefined, status: 204 };
  const facts = { via: "basic", subject: "admin", claims: {} } as const;
  // Those that were checked, not those in force: after a change in this moment the session of old ones must end.
  const checked = { user: digestOf(user), password: digestOf(password) };
  const from = consoleRequest(request, access.origins());
  const opened = await replaceSession(from, facts, access, {
    digest: (secret) => credentialsDigest(secret, checked),
  });
  sendSession(reply, from, opened);
  return { principal: holders.holderOf(opened.session, opened.secret), status: 204 };
}

async function viaOf(principal: Principal, request: FastifyRequest, access: ConsoleAccess): Promise<string> {
  if (principal.via !== "session") return principal.via;
  const { proof } = consoleRequest(request, access.origins());
  return (await readSession(proof, access.sessions, access.holders)).session.via;
}

function infoOf(principal: Principal, via: string, gateway: string): SessionInfo {
  const { subject, name, expiresAt } = principal;
  return {
    user: subject,
    ...(name === undefined ? {} : { name }),
    via,
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    actions: [...allowedActions(principal)],
    gateway: gateway.replace(/\/$/, ""),
  };
}

/** Whoever has the secret of a session may end it, so that a wrong header keeps nobody signed in. */
async function signOutOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { origins, sessions, holders, login }: ConsoleAccess,
): Promise<{ readonly principal: Principal | undefined; readonly status: number }> {
  const { names, proof } = consoleRequest(request, origins());
  let principal: Principal | undefined;
  for (const secret of sessions.endable(proof.cookies)) {
    const session = await sessions.end(secret);
    if (session === undefined) continue;
    principal = holders.holderOf(session, secret) ?? principal;
    login?.endAtIssuer(session);
  }
  const others = proof.cookies.length > 1 ? endOthers(names.session, request.originalUrl) : [];
  reply.header("Set-Cookie", [endCookie(names.session), ...others]).header("Cache-Control", "no-store");
  return { principal, status: 204 };
}
