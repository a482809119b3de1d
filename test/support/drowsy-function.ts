import type { Platform } from "./platform.ts";

const program =
  'require("node:http").createServer((q, r) => setTimeout(() => r.end("hello"), 2)).listen(process.env.PORT, "127.0.0.1")';

/** Deploys a function that scales to zero and replies `hello`; resolves with its URL. */
export async function deployDrowsy(platform: Platform, service = "drowsy"): Promise<string> {
  const deployed = await platform.calls.send("PUT", "/system/functions", {
    headers: { authorization: platform.authorization, "content-type": "application/json" },
    body: JSON.stringify({
      service,
      image: "none",
      envProcess: `node -e '${program}'`,
      envVars: { mode: "http" },
      labels: { "com.service.scale.zero": "true" },
    }),
  });
  if (deployed.status !== 202) throw new Error(`deploying answered ${deployed.status}`);
  return `${platform.url}/function/${service}`;
}
