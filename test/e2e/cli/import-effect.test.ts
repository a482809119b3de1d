import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import {
  gatewayEnvironment,
  openCliHome,
  type CliHome,
  type CommandEnd,
  type CommandOptions,
} from "../../support/cli-home.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../../support/weir-process.ts";

/**
 * Stack files in the shapes that people write, imported, deployed and called. Processes are those of the machine, since
 * the local provider runs no image. The gateway allows a call a second, so that a longer one shows whose limit it has.
 */
interface StackFile {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  /** For each function: what it replies to the body `order 7`; with `signed` after 401 without credentials. */
  readonly replies: Readonly<Record<string, string | { readonly signed: string }>>;
}

const provider = "version: 1.0\nprovider:\n  name: openfaas\n  gateway: http://127.0.0.1:8080\n";
const reply = (text: string): string =>
  `node -e "require('http').createServer((q,r)=>q.resume().on('end',()=>r.end(${text}))).listen(process.env.PORT)"`;

const stackFiles: readonly StackFile[] = [
  {
    name: "a classic process that reads its input",
    files: {
      "upper.yml": `${provider}functions:\n  upper:\n    skip_build: true\n    image: ghcr.io/acme/alpine:latest\n    fprocess: tr a-z A-Z\n    environment:\n      write_debug: true\n      combine_output: false\n`,
    },
    replies: { upper: "ORDER 7" },
  },
  {
    name: "three times that agree, and a call that needs them",
    files: {
      "slow.yml": `${provider}functions:\n  slow:\n    image: acme/slow:1\n    fprocess: sh -c "sleep 2; cat"\n    environment:\n      read_timeout: 5m5s\n      write_timeout: 5m5s\n      exec_timeout: 5m\n`,
    },
    replies: { slow: "order 7" },
  },
  {
    name: "only a write timeout, in seconds",
    files: {
      "report.yml": `${provider}functions:\n  report:\n    image: acme/report:1\n    fprocess: sh -c "sleep 2; echo done"\n    environment:\n      write_timeout: 120\n`,
    },
    replies: { report: "done\n" },
  },
  {
    name: "a server in mode http",
    files: {
      "server.yml": `${provider}functions:\n  server:\n    image: acme/server:\${TAG:-latest}\n    fprocess: ${JSON.stringify(reply("q.method + ' ' + process.env.GREETING"))}\n    environment:\n      mode: http\n      GREETING: \${GREETING:-hello}\n      max_inflight: 10\n`,
    },
    replies: { server: "POST hello" },
  },
  {
    name: "mode streaming",
    files: {
      "stream.yml": `${provider}functions:\n  stream:\n    image: acme/stream:1\n    fprocess: cat\n    environment: {mode: streaming}\n`,
    },
    replies: { stream: "order 7" },
  },
  {
    name: "files of variables, the last of which wins",
    files: {
      "vars.yml": `${provider}functions:\n  vars:\n    image: acme/vars:1\n    fprocess: sh -c "sleep 2; echo $CURRENCY $LEVEL"\n    environment_file: [env/common.yml, env/times.yml]\n    environment:\n      LEVEL: "2"\n`,
      "env/common.yml": "environment:\n  CURRENCY: EUR\n  exec_timeout: 1s\n",
      "env/times.yml": "environment:\n  exec_timeout: 45s\n",
    },
    replies: { vars: "EUR 2\n" },
  },
  {
    name: "anchors, and what is empty",
    files: {
      "anchors.yml": `${provider}x-common: &common\n  image: acme/tools:7\n  limits: &limits\n    memory: 128Mi\n    cpu: ""\nfunctions:\n  first:\n    <<: *common\n    namespace: ""\n    fprocess: cat\n    secrets:\n    labels:\n      com.openfaas.scale.min: ""\n      team: ""\n  second:\n    <<: *common\n    fprocess: wc -c\n    limits:\n      <<: *limits\n      memory: ""\n`,
    },
    replies: { first: "order 7", second: "7\n" },
  },
  {
    name: "secrets, which are files",
    files: {
      "secrets.yml":
        `${provider}functions:\n  vault:\n    image: acme/vault:1\n    fprocess: sh -c "cat /var/openfaas/secrets/api-key || cat \${secret_mount_path}/api-key"\n    secrets: [api-key]\n`.replaceAll(
          "${secret_mount_path}",
          "/var/secrets",
        ),
    },
    secrets: ["api-key"],
    replies: { vault: "s3cret" },
  },
  {
    name: "scaling, retries and health, by the keys of OpenFaaS",
    files: {
      "scaling.yml": `${provider}functions:\n  scaled:\n    image: acme/scaled:1\n    fprocess: cat\n    labels:\n      com.openfaas.scale.min: 1\n      com.openfaas.scale.max: 2\n      com.openfaas.scale.zero: false\n      com.openfaas.scale.type: capacity\n      com.openfaas.scale.target: 50\n    annotations:\n      com.openfaas.health.http.path: /_/health\n      com.openfaas.health.http.initialDelay: 1s\n      com.openfaas.retry.attempts: "3"\n      com.openfaas.retry.codes: "429,502"\n      prometheus.io/scrape: "false"\n`,
    },
    replies: { scaled: "order 7" },
  },
  {
    name: "a function that asks for a token",
    files: {
      "signed.yml": `${provider}functions:\n  signed:\n    image: acme/signed:1\n    fprocess: cat\n    environment:\n      jwt_auth: true\n      jwt_auth_local: "false"\n`,
    },
    replies: { signed: { signed: "order 7" } },
  },
];

let person: CliHome;
let data: TempDirectory;
let project: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  data = await tempDirectory("import-effect-data");
  project = await tempDirectory("import-effect");
  person = await openCliHome();
  const times = ["--upstream-timeout", "1s", "--shutdown-delay", "0s"];
  weir = await startWeir({ data: data.path, flags: ["--provider", "local", ...times] });
});
afterAll(async () => {
  await weir?.stop();
  await person?.[Symbol.asyncDispose]();
  await project?.remove();
  await data?.remove();
});

const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> =>
  person.run(args, { directory: project.path, environment: gatewayEnvironment(weir), ...options });

test("ten stack files as people write them are imported, deployed and called", async () => {
  const inputs: string[] = [];
  for (const { files, secrets = [] } of stackFiles) {
    inputs.push(Object.keys(files)[0] ?? "");
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(project.path, name)), { recursive: true });
      await writeFile(join(project.path, name), text);
    }
    for (const name of secrets)
      expect((await run(["secrets", "create", name, "--from-literal", "s3cret"])).code).toBe(0);
  }
  const imported = await run(["import", ...inputs, "--strict"]);
  expect([imported.code, imported.stdout]).toEqual([0, expect.not.stringContaining("not supported")]);
  const up = await run(["up"]);
  expect([up.code, up.stderr]).toEqual([0, expect.any(String)]);

  const call = async (name: string, authorization?: string): Promise<readonly [number, string]> => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(`${weir.url}/function/${name}`, { method: "POST", body: "order 7", headers });
    return [response.status, await response.text()];
  };
  for (const { name: shape, replies } of stackFiles) {
    for (const [name, expected] of Object.entries(replies)) {
      if (typeof expected === "string") {
        expect(await call(name), shape).toEqual([200, expected]);
      } else {
        expect((await call(name))[0], shape).toBe(401);
        expect(await call(name, weir.authorization), shape).toEqual([200, expected.signed]);
      }
    }
  }
});
