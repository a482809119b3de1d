import { PlatformError } from "../../../api/platform-error.ts";
import { SimulateReply, SimulateRequest, WhoAmI } from "../../../api/schemas/iam/access.ts";
import { decideAccess, type AccessDecision, type AccessRequest } from "../../../core/access/decide-access.ts";
import { grantsOf } from "../../../core/access/grants.ts";
import { permitted, type Principal } from "../../../core/access/principal.ts";
import { noRules } from "../../../core/access/rule-set.ts";
import { functionScopeIn, withinScope } from "../../../core/access/tokens/function-scope.ts";
import { realNamespace } from "../../../core/namespaces/namespace-rules.ts";
import { invokeAction } from "../../access/function-callers.ts";
import { route, type RouteParts } from "../route.ts";

const whoAmI = route(
  {
    id: "whoAmI",
    group: "identity",
    method: "GET",
    path: "/system/iam/whoami",
    needs: "credentials",
    about: "Says who sent the request, and by which policies it may do anything.",
    responses: [{ status: 200, about: "Who", schema: WhoAmI }],
    iamOnly: true,
    trial: {
      commands: "curl -u admin:$P $G/system/iam/whoami",
      shows: '{"subject":"admin","via":"basic","administrator":true,"policies":[]}',
    },
  },
  () =>
    async ({ principal: { subject, issuer, name, via, grants, expiresAt } }) => ({
      subject,
      ...(issuer === undefined ? {} : { issuer }),
      ...(name === undefined ? {} : { name }),
      via,
      administrator: grants === "everything",
      policies: grants === "everything" ? [] : [...grants.policies],
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    }),
);

const simulate = route(
  {
    id: "simulateAccess",
    group: "identity",
    method: "POST",
    path: "/system/iam/simulate",
    needs: "System:Simulate",
    changes: false,
    about: "Decides on an action as the rules in force would, and says by what.",
    body: SimulateRequest,
    responses: [{ status: 200, about: "The decision", schema: SimulateReply }],
    iamOnly: true,
    trial: {
      commands: `curl -u admin:$P $G/system/iam/simulate -d '{"action":"Function:Delete","resource":"dev:pay"}'`,
      shows: '{"allowed":true,"role":"administrator",…}',
    },
  },
  (parts) =>
    async ({ body, principal }) => {
      const request = { action: body.action, resource: realResource(body.resource, parts) };
      return shown(await decisionOn(body, request, principal, parts));
    },
);

/** Who one is, and what others may do (`iam.md` §6); only in editions with IAM. */
export const accessRoutes = [whoAmI, simulate];

async function decisionOn(
  { claims, token }: SimulateRequest,
  request: AccessRequest,
  sender: Principal,
  parts: RouteParts,
): Promise<AccessDecision> {
  if (claims !== undefined && token !== undefined) {
    throw new PlatformError("validation_failed", "Cannot simulate a decision: it has both claims and token; send one");
  }
  if (claims !== undefined) return decideAccess(grantsOf(parts.tokens?.rules() ?? noRules, claims), request);
  if (token !== undefined) return ofToken(token, request, parts);
  return permitted(sender, request);
}

async function ofToken(token: string, request: AccessRequest, { tokens }: RouteParts): Promise<AccessDecision> {
  const own = await tokens?.holders.read(token);
  if (own === undefined || tokens === undefined) {
    throw new PlatformError(
      "validation_failed",
      "Cannot simulate a decision: the token is no valid one of this platform",
    );
  }
  const scope = functionScopeIn(own.claims);
  const denied = { allowed: false, missing: request, reported: undefined } as const;
  if (own.kind === "function") {
    if (request.action !== invokeAction || scope === undefined || !withinScope(scope, request.resource)) return denied;
  }
  return permitted(tokens.holders.holderOf(own), request);
}

function realResource(resource: string, { namespaces }: RouteParts): string {
  const [namespace = "", name] = resource.split(":");
  return name === undefined ? resource : `${realNamespace(namespace, namespaces)}:${name}`;
}

function shown(decision: AccessDecision): SimulateReply {
  if (decision.allowed) return { allowed: true, ...decision.by };
  const { missing, reported } = decision;
  return { allowed: false, missing: { ...missing }, ...(reported === undefined ? {} : { reportedBy: reported.role }) };
}
