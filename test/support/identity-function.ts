/** What the function is to do with its token. */
export interface IdentityTask {
  /** Of the exchange, beside those that every exchange has. */
  readonly fields: Readonly<Record<string, string>>;
  /** Of functions, and of `/system`, which is read: asked for with what the exchange returned. */
  readonly paths: readonly string[];
}

/** What came of it. */
export interface IdentityReport {
  /** The file of its token. */
  readonly file: string;
  /** Whether it has a token for the API server. */
  readonly hasApiToken: boolean;
  /** Status of the exchange, and why it was refused. */
  readonly exchange: string;
  /** Status and text of each path. */
  readonly replies: Readonly<Record<string, string>>;
  /** Status of a call with the token as it is in the file. */
  readonly unexchanged: string;
}

const grant = "urn:ietf:params:oauth:grant-type:token-exchange";
const type = "urn:ietf:params:oauth:token-type:jwt";

/** Of `envProcess`, in mode http: a function that acts as a client of the gateway with the token of its account. */
export const identityFunction = `node -e '
const { existsSync, readFileSync } = require("node:fs");
const { text } = require("node:stream/consumers");
const { GATEWAY_URL: gateway, SERVICE_TOKEN_FILE: file, PORT: port } = process.env;
const call = async (path, token) => {
  const sent = path.startsWith("/system/") ? {} : { method: "POST", body: "hello" };
  const response = await fetch(gateway + path, { ...sent, headers: { authorization: "Bearer " + token } });
  return response.status + " " + (await response.text()).trim();
};
const run = async ({ fields, paths }) => {
  const own = readFileSync(file, "utf8");
  const form = { grant_type: "${grant}", subject_token_type: "${type}", subject_token: own, ...fields };
  const exchanged = await fetch(gateway + "/oauth/token", { method: "POST", body: new URLSearchParams(form) });
  const reply = await exchanged.json();
  const why = reply.error_description === undefined ? "" : " " + reply.error_description;
  const replies = {};
  for (const path of paths) replies[path] = await call(path, reply.access_token);
  return {
    file,
    hasApiToken: existsSync("/var/run/secrets/kubernetes.io/serviceaccount/token"),
    exchange: exchanged.status + why,
    replies,
    unexchanged: (await call("/function/greeter", own)).split(" ")[0],
  };
};
const answer = async (request, response) => {
  const report = await run(JSON.parse(await text(request)));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(report));
};
require("node:http").createServer((request, response) => {
  answer(request, response).catch((err) => response.writeHead(500).end(String(err && err.stack)));
}).listen(port, "127.0.0.1");
'`;
