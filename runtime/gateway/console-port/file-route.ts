import Type from "typebox";

import { PlatformError } from "../../api/platform-error.ts";
import { quote } from "../../core/quote.ts";
import { headerText } from "../auth/console-request.ts";
import { route, type RouteEntry } from "../rest/route.ts";
import type { ConsoleFiles } from "./console-files.ts";

/** The path of the files, which ask nothing of their sender. */
export const filesPath = "/ui/*";
/** What people type instead of the console's address; they lead to it. */
export const entryPaths = ["/", "/ui"] as const;

const forever = "public, max-age=31536000, immutable";

/** Leads from the bare origin to the console. */
export function entryRoutes(): RouteEntry[] {
  return entryPaths.map((path) =>
    route(
      {
        id: path === "/" ? "openConsoleOrigin" : "openConsole",
        group: "platform",
        method: "GET",
        path,
        needs: "nothing",
        about: "Redirects to the console.",
        responses: [{ status: 307, about: "The console", headers: { Location: "Its path" } }],
        documented: false,
      },
      () =>
        async ({ reply }) => {
          await reply.redirect("/ui/", 307);
        },
    ),
  );
}

/** The pages of the console and what they are made of; they hold no data. */
export function fileRoute(files: ConsoleFiles): RouteEntry {
  return route(
    {
      id: "getConsoleFile",
      group: "platform",
      method: "GET",
      path: filesPath,
      needs: "nothing",
      about: "Returns a file of the console.",
      responses: [{ status: 200, about: "The file", schema: Type.String({ format: "binary" }), type: "*/*" }],
      documented: false,
    },
    () =>
      async ({ request, reply }) => {
        const [path = ""] = request.originalUrl.split("?", 1);
        const found = await files.read(path, headerText(request.headers["accept-encoding"]));
        if (found === undefined) {
          throw new PlatformError("route_not_found", `Cannot find ${quote(path)}: the console has no such file`);
        }
        const { bytes, type, immutable, coding, tag } = found;
        reply.headers({
          "Cache-Control": immutable ? forever : "no-store",
          ETag: tag,
          Vary: "Accept-Encoding",
          "Content-Type": type,
        });
        if (isCurrent(headerText(request.headers["if-none-match"]), tag)) {
          reply.removeHeader("Content-Type");
          await reply.code(304).send();
          return;
        }
        if (coding !== undefined) reply.header("Content-Encoding", coding);
        await reply.send(bytes);
      },
  );
}

/** Whether `If-None-Match` names the content: a weak tag counts, too (RFC 9110 §13.1.2). */
function isCurrent(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const named = part.trim();
    return named === "*" || named.replace(/^W\//, "") === tag;
  });
}
