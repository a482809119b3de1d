import { METHODS } from "node:http";

import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { editionNames, editions } from "../../runtime/api/editions.ts";
import { judgeMethod } from "../../runtime/api/http-methods.ts";
import { addRoutes } from "../../runtime/gateway/rest/add-routes.ts";
import { clientAddresses } from "../../runtime/gateway/edge/client-address.ts";
import { allowedMethods, pathsOf, restRoutes } from "../../runtime/gateway/rest/route-table.ts";
import type { RouteEntry, RouteParts } from "../../runtime/gateway/rest/route.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";
import { notEmpty } from "../support/not-empty.ts";
import { textOfBody } from "../support/text-of-body.ts";

/** The route-table walk: every route and method, in every spelling, with every kind of credentials. */
let platform: RestPlatform;
let client = 0;

beforeAll(async () => {
  platform = await openRestPlatform({
    edition: "enterprise",
    // Each request comes from another address, as wrong credentials are counted.
    origins: { allowed: new Set(), clients: clientAddresses(["127.0.0.1"]) },
  });
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
});

const all = restRoutes(true);
const walk = all.flatMap((entry) =>
  pathsOf(entry).flatMap((path) => methodsOf(entry).map((method) => ({ entry, method, target: targetOf(path) }))),
);
const paths = [...new Set(walk.map(({ target }) => target))];
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

const refused: readonly (readonly [string, string | undefined])[] = [
  ["no credentials", undefined],
  ["Basic without anything", "Basic"],
  ["Basic that is not base64", "Basic !!!"],
  ["Basic without a colon", basic("admin")],
  ["a wrong password", basic("admin:wrong")],
  ["a wrong user", basic("root:päss:word")],
  ["a password cut short", basic("admin:päss:wor")],
  ["Bearer without anything", "Bearer "],
  ["a foreign token", "Bearer eyJhbGciOiJub25lIn0.e30."],
  ["another scheme", "Digest username=admin"],
];

describe.each(refused)("with %s", (_name, authorization) => {
  test("every route that needs something is 401, and the others are not", async () => {
    for (const { entry, method, target } of walk) {
      const response = await send(method, target, authorization);
      const text = await response.text();
      const seen = `${method} ${target} ${response.status}`;
      if (entry.needs === "nothing") {
        expect(response.status, seen).not.toBe(401);
        continue;
      }
      expect(response.status, seen).toBe(401);
      if (method !== "HEAD") expect(text, seen).toBe("invalid credentials");
      expect(response.headers.get("www-authenticate"), seen).toContain('Basic realm="Restricted"');
    }
  });
});

test("with the administrator's credentials no route is 401, 403, 404 of routes, 405 or 500", async () => {
  for (const { method, target } of walk) {
    const response = await send(method, target, platform.authorization);
    const text = await textOfBody(response);
    const seen = `${method} ${target} ${response.status} ${text}`;
    expect([401, 405, 500], seen).not.toContain(response.status);
    expect(text, seen).not.toContain("Cannot find route");
  }
});

test("every response body ends with a newline", async () => {
  for (const { method, target } of walk) {
    for (const accept of ["*/*", "application/json"]) {
      const headers = { authorization: platform.authorization, accept };
      const text = await textOfBody(await fetch(`${platform.url}${target}`, { method, headers }));
      if (text !== "") expect(text.at(-1), `${method} ${target} ${text}`).toBe("\n");
    }
  }
});

test("every other method of a path is 405 and lists the allowed ones, also without credentials", async () => {
  // For others every route gives the same response, before it is looked up.
  const others = METHODS.filter((method) => judgeMethod(method) === "allowed");
  for (const target of paths) {
    const allowed = allowedMethods(target, all);
    for (const method of others.filter((candidate) => !allowed.includes(candidate))) {
      const response = await send(method, target);
      await response.arrayBuffer();
      expect([method, target, response.status, response.headers.get("allow")]).toEqual([
        method,
        target,
        405,
        allowed.join(", "),
      ]);
    }
  }
});

test.each(editionNames.filter((edition) => !editions[edition].iam))(
  "routes of IAM do not exist in %s",
  async (edition) => {
    await using small = await openRestPlatform({ edition });
    const iam = all.filter(({ iamOnly }) => iamOnly === true);
    for (const { method, path } of notEmpty(iam, "route of IAM")) {
      for (const asked of [method, "DELETE"]) {
        const response = await small.call(asked, path, asked === "POST" ? "grant_type=x" : undefined);
        expect([asked, path, response.status, response.headers.get("allow")]).toEqual([asked, path, 404, null]);
        expect(await response.text()).toMatch(/^Cannot find route /);
      }
    }
  },
);

test("a route that is not in the table cannot be added", () => {
  const app = fastify();
  addRoutes(app, [], {} as RouteParts);
  expect(() => app.get("/debug", async () => "")).toThrow(
    'Cannot add route "GET /debug": it is not in the route table',
  );
  expect(app.hasRoute({ method: "GET", url: "/debug" })).toBe(false);
});

function send(method: string, target: string, authorization?: string, body?: string): Promise<Response> {
  client += 1;
  return fetch(platform.url + target, {
    method,
    redirect: "manual",
    headers: {
      "x-forwarded-for": `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`,
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(body === undefined ? {} : { body }),
  });
}

function methodsOf({ method, head }: RouteEntry): string[] {
  return method === "GET" && head !== false ? [method, "HEAD"] : [method];
}

/** A target that the route matches. */
function targetOf(path: string): string {
  return path
    .replaceAll(":callId", "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10")
    .replaceAll(/:\w+/g, "dev")
    .replace("*", "any/path");
}
