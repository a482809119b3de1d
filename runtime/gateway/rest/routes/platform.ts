import Type from "typebox";

import { DoctorReport } from "../../../api/schemas/doctor-report.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { OpenApiDocument } from "../../../api/schemas/openapi-document.ts";
import { SystemInfo } from "../../../api/schemas/system-info.ts";
import { route } from "../route.ts";
import { passwordPlace, startPage } from "../start-page.ts";
import { alertRoute } from "./alert.ts";

const getInfo = route(
  {
    id: "getInfo",
    group: "platform",
    method: "GET",
    path: "/system/info",
    needs: "System:Info",
    about: "Describes this platform: provider, version, edition, default namespace.",
    responses: [{ status: 200, about: "The description", schema: SystemInfo }],
    trial: { commands: "curl -u admin:$P $G/system/info", shows: '{"provider":{"provider":"weir-local",…' },
  },
  ({ info, tokens }) =>
    async () => {
      if (tokens === undefined) return info;
      const { issuers, policies, roles, faults } = tokens.rules();
      const iam = {
        issuer: tokens.keys.issuer,
        issuers: issuers.size,
        policies: policies.size,
        roles: roles.length,
        faults: faults.map(({ place, ...fault }) => ({ ...fault, ...(place === undefined ? {} : { place }) })),
      };
      return { ...info, iam };
    },
);

const getDoctorReport = route(
  {
    id: "getDoctorReport",
    group: "platform",
    method: "GET",
    path: "/system/doctor",
    needs: "System:Doctor",
    about: "Checks this platform: timeouts, broker, provider, queues, dead letters, disks, functions.",
    details:
      "Each finding is ok, a warning or a problem, with what to do about it. Checks take at most 2 s and are made at most every 10 s; what does not reply in time is a finding. The broker being away is a finding, too, and no error.",
    responses: [{ status: 200, about: "The findings", schema: DoctorReport }],
    trial: { commands: "curl -u admin:$P $G/system/doctor", shows: '{"checkedAt":"…","parts":[{"part":"gateway",…' },
  },
  ({ doctor }) =>
    async () =>
      doctor.report(),
);

const getHealth = route(
  {
    id: "getHealth",
    group: "platform",
    method: "GET",
    path: "/healthz",
    needs: "nothing",
    about: "Replies while the gateway is live.",
    responses: [{ status: 200, about: "The gateway is live" }],
    trial: { commands: "curl -i $G/healthz", shows: "HTTP/1.1 200 OK\n…" },
  },
  () => async () => undefined,
);

const getDocument = route(
  {
    id: "getOpenApiJson",
    group: "platform",
    method: "GET",
    path: "/openapi.json",
    needs: "nothing",
    about: "Returns the OpenAPI description of this API as JSON.",
    responses: [{ status: 200, about: "The description", schema: OpenApiDocument }],
    trial: { commands: "curl -s $G/openapi.json | head -n 2", shows: '{\n  "openapi": "3.1.0",' },
  },
  ({ document }) =>
    async ({ reply }) => {
      await reply.type("application/json").send(document.json);
    },
);

const getYamlDocument = route(
  {
    id: "getOpenApiYaml",
    group: "platform",
    method: "GET",
    path: "/openapi.yaml",
    needs: "nothing",
    about: "Returns the OpenAPI description of this API as YAML.",
    responses: [
      {
        status: 200,
        about: "The description",
        schema: Type.String({ format: "binary", description: "An OpenAPI 3.1 document" }),
        type: "application/yaml",
      },
    ],
    trial: { commands: "curl -s $G/openapi.yaml | head -n 1", shows: "openapi: 3.1.0" },
  },
  ({ document }) =>
    async ({ reply }) => {
      await reply.type("application/yaml").send(document.yaml);
    },
);

const getStartPage = route(
  {
    id: "getStartPage",
    group: "platform",
    method: "GET",
    path: "/",
    needs: "nothing",
    about:
      "Leads people to the console; without one, returns a page: the address, and commands that deploy and call a first function.",
    responses: [
      {
        status: 200,
        about: "The page",
        schema: Type.String(),
        type: "text/html",
        headers: { "Content-Security-Policy": "Nothing but the page's own style" },
      },
      { status: 307, about: "The console", headers: { Location: "Its address" } },
    ],
    trial: { commands: "curl -sL $G/ | head -n 1", shows: "<!doctype html>" },
  },
  ({ address, consoleOf, info, credentials }) =>
    async ({ request, reply }) => {
      if (consoleOf !== undefined) {
        await reply.redirect(`${consoleOf(request.headers.host)}/ui/`, 307);
        return;
      }
      const { orchestration } = info.provider;
      const password = passwordPlace(orchestration, credentials);
      const { html, policy } = startPage({ address: address(), orchestration, password });
      await reply.type("text/html; charset=utf-8").header("Content-Security-Policy", policy).send(html);
    },
);

const leadToConsole = route(
  {
    id: "leadToConsole",
    group: "platform",
    method: "GET",
    path: "/ui/*",
    also: ["/ui"],
    needs: "nothing",
    about: "Leads to the same page of the console.",
    responses: [{ status: 307, about: "The console", headers: { Location: "Address of the page" } }],
    documented: false,
  },
  ({ consoleOf }) =>
    async ({ request: { originalUrl, headers }, reply }) => {
      if (consoleOf === undefined)
        throw new PlatformError(
          "route_not_found",
          "Cannot find the console: this gateway has none; set console_port to the port that it is to listen on",
        );
      const page = originalUrl.replace(/^\/ui(?=$|\?)/, "/ui/");
      await reply.redirect(`${consoleOf(headers.host)}${page}`, 307);
    },
);

/** Routes of the platform as a whole (contract §3.6). */
export const platformRoutes = [
  getInfo,
  getDoctorReport,
  getHealth,
  getDocument,
  getYamlDocument,
  alertRoute,
  getStartPage,
  leadToConsole,
];
