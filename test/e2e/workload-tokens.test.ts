import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

let directory: TempDirectory;
let weir: WeirProcess;
const issuer = "https://weir.example";

const manifests = `apiVersion: iam.service.com/v1
kind: JwtIssuer
metadata: {name: workloads}
spec: {iss: ${issuer}/workload, aud: ["${issuer}/oauth/token"]}
---
apiVersion: iam.service.com/v1
kind: Policy
metadata: {name: read}
spec: {statement: [{sid: read, effect: Allow, action: ["Function:List", "Function:Get"], resource: ["functions:*"]}]}
---
apiVersion: iam.service.com/v1
kind: Role
metadata: {name: reader}
spec:
  policy: [read]
  condition: {StringEquals: {"jwt:iss": ["${issuer}/workload"], "jwt:sub": ["function:functions:reader"]}}
`;

beforeAll(async () => {
  directory = await tempDirectory("workloads");
  await mkdir(join(directory.path, "iam"), { mode: 0o700 });
  await writeFile(join(directory.path, "iam", "rules.yaml"), manifests, { mode: 0o600 });
  weir = await startWeir({ data: directory.path, flags: ["--edition=enterprise", `--public-url=${issuer}`] });
});
afterAll(async () => {
  await weir?.stop();
  await weir?.close();
  await directory?.remove();
});

/** Deploys a function of one shell command and returns its reply. */
async function replyOf(service: string, script: string, annotations: Record<string, string>): Promise<string> {
  const response = await fetch(`${weir.url}/system/functions`, {
    method: "POST",
    headers: { authorization: weir.authorization, "content-type": "application/json" },
    body: JSON.stringify({ service, image: "example/hello:1", envProcess: `sh -c '${script}'`, annotations }),
  });
  expect(response.status).toBe(202);
  return eventually(
    async () => {
      const called = await fetch(`${weir.url}/function/${service}`, { method: "POST" });
      const text = await called.text();
      return called.status === 200 ? text : undefined;
    },
    { what: `a reply of ${service}` },
  );
}

test("a function exchanges its workload token at the gateway, and reads what its role allows", async () => {
  const annotations = { "com.service.serviceaccount": "reader" };
  const own = (await replyOf("reader", 'cat "$SERVICE_TOKEN_FILE"', annotations)).trim();
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    subject_token: own,
  });
  const exchanged = await fetch(`${weir.url}/oauth/token`, { method: "POST", body: form });
  const { access_token: token } = (await exchanged.json()) as { access_token?: string };
  expect(exchanged.status).toBe(200);
  const status = async (path: string, bearer: string | undefined) =>
    (await fetch(weir.url + path, { headers: { authorization: `Bearer ${bearer}` } })).status;
  expect(await status("/system/functions", token)).toBe(200);
  expect(await status("/system/secrets", token)).toBe(403);
  expect(await status("/system/functions", own)).toBe(401);
});

test("a function without a service account has no token, and the key is for its owner only", async () => {
  expect(await replyOf("nobody", 'echo "[$SERVICE_TOKEN_FILE]"; ls -A "$SERVICE_SECRETS_DIR"', {})).toBe("[]\n");
  expect((await stat(join(directory.path, "credentials", "workload-key.pem"))).mode & 0o777).toBe(0o600);
});
