import type { TSchema } from "typebox";

import { errorCodes } from "../../runtime/api/platform-error.ts";
import { statusOf } from "../../runtime/gateway/error-handler.ts";
import { routeGroups } from "../../runtime/gateway/openapi/build-document.ts";
import { errorMeanings } from "../../runtime/gateway/openapi/error-meanings.ts";
import { documentPath } from "../../runtime/gateway/openapi/operation.ts";
import { usualErrors } from "../../runtime/gateway/openapi/route-errors.ts";
import { methodsOf, type RouteEntry } from "../../runtime/gateway/rest/route.ts";
import { capital, typeName, typesSection } from "./types-section.ts";

/** The page of the API, in Markdown: every route with its sentence, required rights, statuses and a curl line. */
export function apiPage(routes: readonly RouteEntry[]): string {
  const groups = Object.entries(routeGroups).map(([group, about]) => {
    const found = routes.filter((entry) => entry.group === group && entry.documented !== false);
    return `## ${capital(group)}\n\n${about}.\n\n${sections(found).join("\n\n")}`;
  });
  return [intro, errorsTable(), ...groups, typesSection()].join("\n\n");
}

const intro = `# API

Written by \`npm run openapi\` from \`runtime/gateway/rest/routes\`; change it there. The same as OpenAPI 3.1 is in
[openapi.json](../../openapi.json), and every gateway serves it at \`/openapi.json\` and \`/openapi.yaml\`.

In the commands \`$G\` is the gateway's address and \`$P\` the administrator's password:

\`\`\`sh
G=http://127.0.0.1:8080
P=$(cat .weir/credentials/basic-auth-password)
\`\`\`

- Everything below \`/system/\` needs the administrator (Basic); routes marked "open" do not.
- Bodies are JSON whatever their \`Content-Type\`, at most 2 MiB and 32 levels. Unknown fields are ignored, except in a [FunctionDeployment](#functiondeployment): a misspelt one is refused. \`null\` means absent.
- HEAD works where GET does, except for logs. The last of a repeated parameter wins.
- A request that names no namespace means the default one.
- Replies of \`/system/\` carry \`X-Api-Version\`.`;

/** Routes of one path with the same sentence share a section. */
function sections(routes: readonly RouteEntry[]): string[] {
  const shared = Map.groupBy(routes, ({ path, about }) => `${path} ${about}`);
  return [...shared.values()].map((entries) => section(entries));
}

function section(entries: readonly RouteEntry[]): string {
  const [first] = entries;
  if (first === undefined) return "";
  const trial = entries.find((entry) => entry.trial !== undefined)?.trial;
  const title = `### \`${entries.flatMap(methodsOf).join(" ")} ${documentPath(first.path)}\``;
  const shown =
    trial === undefined ? "" : `\n\n\`\`\`sh\n${trial.commands}\n\`\`\`\n\n\`\`\`text\n${trial.shows}\n\`\`\``;
  return `${title}\n\n${sentences(first)}\n\n${replies(first)}${shown}`;
}

function sentences(entry: RouteEntry): string {
  const { about, details, also = [], query, body, bodyOptional, needs, handling } = entry;
  const spellings = also.map((path) => `\`${documentPath(path)}\``).join(", ");
  const parameters = Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) =>
    "type" in schema && schema.type === "object" ? "any, it goes to the function" : `\`${name}\``,
  );
  const type = body === undefined ? undefined : typeName(body);
  return [
    about,
    ...(details === undefined ? [] : [details]),
    ...(entry.iamOnly === true ? ["Only in editions with IAM; elsewhere it is 404."] : []),
    ...(type === undefined ? [] : [`Body${bodyOptional === true ? ", if there is one" : ""}: ${type}.`]),
    ...(parameters.length === 0 ? [] : [`Query: ${parameters.join(", ")}.`]),
    need(needs, handling),
    ...(spellings === "" ? [] : [`Also ${spellings}.`]),
  ].join(" ");
}

function need(needs: RouteEntry["needs"], handling: RouteEntry["handling"]): string {
  if (needs !== "nothing") return `Needs \`${needs}\`.`;
  return handling === "elsewhere" ? "Open, unless the function asks for credentials." : "Open.";
}

function replies(entry: RouteEntry): string {
  const good = entry.responses
    .filter(({ status }) => status === "default" || status < 400)
    .map(({ status, about, schema }) => {
      const type = schema === undefined ? undefined : typeName(schema);
      return `**${status === "default" ? "any status" : status}** ${about}${type === undefined ? "" : `: ${type}`}`;
    });
  const own = [...Map.groupBy(entry.errors ?? [], statusOf)]
    .toSorted(([one], [other]) => one - other)
    .map(([status, listed]) => `${status} ${listed.map((code) => `\`${code}\``).join(", ")}`);
  return `Replies: ${[...good, ...own].join("; ")}; and [the usual](#errors).`;
}

function errorsTable(): string {
  const rows = errorCodes
    .toSorted((one, other) => statusOf(one) - statusOf(other))
    .map(
      (code) => `| ${statusOf(code)} | \`${code}\` | ${errorMeanings[code]} | ${usualErrors.has(code) ? "yes" : ""} |`,
    );
  return `## Errors

An error is one line of text, \`Cannot <do> <thing>: <state>\`. Clients that list \`application/json\` or \`application/problem+json\` in
\`Accept\` get [ProblemDetails](#problemdetails) instead. 429 and 503 carry \`Retry-After\`. The usual ones are not repeated below.

| Status | Code | When | Usual |
|---|---|---|---|
${rows.join("\n")}`;
}
