import Type from "typebox";

import { PlatformError } from "../../../api/platform-error.ts";
import { EndedSessions, EndSessionsRequest, OpenSession } from "../../../api/schemas/iam/session.ts";
import { federatedPrefix } from "../../../core/access/claims.ts";
import { displayName } from "../../../core/access/display-name.ts";
import { noRules, type RuleSet } from "../../../core/access/rule-set.ts";
import { sessionEnd, type Session } from "../../../core/ports/session-store.ts";
import type { ListedSession } from "../../access/sessions/session-table.ts";
import { route } from "../route.ts";

const listSessions = route(
  {
    id: "listSessions",
    group: "identity",
    method: "GET",
    path: "/system/sessions",
    needs: "Session:List",
    about: "Lists who is signed in with a browser.",
    responses: [{ status: 200, about: "The sessions, the newest first", schema: Type.Array(OpenSession) }],
    trial: { commands: "curl -u admin:$P $G/system/sessions", shows: "[…]" },
  },
  ({ sessions, tokens }) =>
    async () => {
      const rules = tokens?.rules() ?? noRules;
      // Without a console nobody is.
      const open = sessions?.list() ?? [];
      return open
        .toSorted((a, b) => (b.session.openedAt ?? 0) - (a.session.openedAt ?? 0))
        .map((listed) => shown(listed, rules));
    },
);

const endSessions = route(
  {
    id: "endSessions",
    group: "identity",
    method: "DELETE",
    path: "/system/sessions",
    needs: "Session:Delete",
    about: "Signs somebody out of all browsers, or out of one.",
    details:
      "With `id` one session ends, with `subject` all of that subject, of `issuer` if it is there. It counts at all gateways within a second. Tokens that the subject has are not ended: `deny` of its JwtIssuer refuses them, too.",
    body: EndSessionsRequest,
    responses: [{ status: 200, about: "What was ended", schema: EndedSessions }],
    errors: ["validation_failed", "provider_unavailable"],
    trial: {
      commands: `curl -u admin:$P -X DELETE $G/system/sessions -d '{"subject":"fed:alice"}'`,
      shows: '{"ended":[]}',
    },
  },
  ({ sessions, tokens }) =>
    async ({ body, request }) => {
      const { id, subject, issuer } = body;
      if ((id === undefined) === (subject === undefined)) {
        throw new PlatformError("validation_failed", "Cannot end sessions: give one of id and subject");
      }
      const isMeant = (listed: ListedSession): boolean =>
        (id === undefined || listed.id === id) &&
        (subject === undefined || subjectOf(listed.session) === subject) &&
        (issuer === undefined || listed.session.issuer === issuer);
      const ended = (await sessions?.endAll(isMeant)) ?? [];
      const rules = tokens?.rules() ?? noRules;
      request.access.resources = [...new Set(ended.map(({ session }) => subjectOf(session)))];
      return { ended: ended.map((listed) => shown(listed, rules)) };
    },
);

/** Sessions of people in browsers: list them, end them. */
export const sessionListRoutes = [listSessions, endSessions];

function shown({ id, session }: ListedSession, rules: RuleSet): OpenSession {
  const { via, issuer, claims, openedAt } = session;
  const trusted = issuer === undefined ? undefined : rules.issuers.get(issuer);
  const name = (trusted && displayName(claims, trusted)) ?? session.name;
  return {
    id,
    subject: subjectOf(session),
    ...(name === undefined ? {} : { name }),
    ...(issuer === undefined ? {} : { issuer }),
    via,
    ...(openedAt === undefined ? {} : { openedAt: new Date(openedAt).toISOString() }),
    expiresAt: new Date(sessionEnd(session)).toISOString(),
  };
}

function subjectOf({ via, subject }: Session): string {
  return via === "basic" ? subject : `${federatedPrefix}${subject}`;
}
