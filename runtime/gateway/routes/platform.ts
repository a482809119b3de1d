import Type from "typebox";

import { SystemInfo } from "../../api/system-info.ts";
import { notBuilt, route } from "../route.ts";
import { alertRoute } from "./alert.ts";

const getInfo = route(
  {
    id: "getInfo",
    group: "platform",
    method: "GET",
    path: "/system/info",
    needs: "System:Info",
    about: "Says what this platform is: provider, version, edition, default namespace.",
    answers: [{ status: 200, about: "What it is", schema: SystemInfo }],
    trial: { commands: "curl -u admin:$P $G/system/info", shows: '{"provider":{"provider":"weir-local",…' },
  },
  ({ info }) =>
    async () =>
      info,
);

const getHealth = route(
  {
    id: "getHealth",
    group: "platform",
    method: "GET",
    path: "/healthz",
    needs: "nothing",
    about: "Answers while the gateway does.",
    answers: [{ status: 200, about: "It answers" }],
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
    about: "Gives the OpenAPI description of this API as JSON.",
    answers: [
      { status: 200, about: "The description", schema: Type.Object({}, { description: "An OpenAPI 3.1 document" }) },
    ],
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
    about: "Gives the OpenAPI description of this API as YAML.",
    answers: [
      {
        status: 200,
        about: "The description",
        schema: Type.Object({}, { description: "An OpenAPI 3.1 document" }),
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

const toConsole = [{ status: 307, about: "The console is at `/ui/`", headers: { Location: "`/ui/`" } }] as const;

/** What is about the platform as a whole (contract §3.6). */
export const platformRoutes = [
  getInfo,
  getHealth,
  getDocument,
  getYamlDocument,
  alertRoute,
  notBuilt({
    id: "goToConsole",
    group: "platform",
    method: "GET",
    path: "/",
    needs: "nothing",
    about: "Leads to the console.",
    answers: toConsole,
  }),
  notBuilt({
    id: "goToConsoleRoot",
    group: "platform",
    method: "GET",
    path: "/ui",
    needs: "nothing",
    about: "Leads to the console.",
    answers: toConsole,
  }),
  notBuilt({
    id: "getConsole",
    group: "platform",
    method: "GET",
    path: "/ui/*",
    needs: "Console:Get",
    about: "Gives the console: pages to look at the platform and change it.",
    params: Type.Object({ path: Type.String({ description: "Rest of the path" }) }),
    answers: [{ status: 200, about: "A file of the console", schema: Type.String(), type: "text/html" }],
  }),
];
